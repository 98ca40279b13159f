// Layers and losses, with their gradients, against PyTorch's (tests/conformance/golden/make.py).
#include "tests/conformance/golden/golden.h"

namespace gradus::test {
namespace {

namespace F = nn::functional;

const Golden& golden() {
  static const Golden read(recorded("golden/nn.txt"));
  return read;
}

Reduction reduction_named(const std::string& name) {
  return name == "none" ? kNone : name == "mean" ? kMean : kSum;
}

Tensor linear_case(const Words& w) {
  const bool has_bias = w[0] == "linear";
  const auto f = [&](const Tensors& x) {
    nn::Linear layer(nn::LinearOptions(3, 2).bias(has_bias));
    layer->weight = x[1];
    if (has_bias) layer->bias = x[2];
    return layer(x[0]);
  };
  Tensors inputs = {golden()[w[1]], golden()["weight"]};
  if (has_bias) inputs.push_back(golden()["bias"]);
  return result_or_gradient(w[2], f, inputs);
}

Tensor mse_case(const Words& w) {
  nn::MSELoss loss(nn::MSELossOptions().reduction(reduction_named(w[3])));
  return result_or_gradient(w[4], [&](const Tensors& x) { return loss(x[0], x[1]); },
                            {golden()[w[1]], golden()[w[2]]});
}

Tensor cross_entropy_case(const Words& w) {
  nn::CrossEntropyLoss loss(nn::CrossEntropyLossOptions().reduction(reduction_named(w[3])));
  return result_or_gradient(w[4], [&](const Tensors& x) { return loss(x[0], golden()[w[2]]); },
                            {golden()[w[1]]});
}

Tensor nll_case(const Words& w) {
  return result_or_gradient(w[4],
                            [&](const Tensors& x) {
                              return F::nll_loss(
                                  x[0], golden()[w[2]],
                                  F::NLLLossFuncOptions().reduction(reduction_named(w[3])));
                            },
                            {golden()[w[1]]});
}

// with_options LOSS INPUT TARGET WEIGHT IGNORED SMOOTHING REDUCTION
Tensor options_case(const Words& w) {
  const Tensor target = golden()[w[3]], weight = w[4] == "-" ? Tensor() : golden()[w[4]];
  const auto with = [&](auto options) {
    return options.weight(weight).ignore_index(std::stoll(w[5])).reduction(reduction_named(w[7]));
  };
  nn::NLLLoss nll(with(nn::NLLLossOptions()));
  nn::CrossEntropyLoss cross_entropy(
      with(nn::CrossEntropyLossOptions()).label_smoothing(std::stod(w[6])));
  return result_or_gradient(w[8],
                            [&](const Tensors& x) {
                              return w[1] == "nll_loss" ? nll(x[0], target)
                                                        : cross_entropy(x[0], target);
                            },
                            {golden()[w[2]]});
}

using Activations = std::map<std::string, std::function<Tensor(const Tensor&)>>;
template <class Module>
void add_default(Activations& to, const std::string& name) {
  if constexpr (std::is_default_constructible_v<Module>) to[name] = Module();
}

const Activations& activations() {
  static const Activations all = [] {
    Activations by_name = {
        {"Threshold 0.25 3.0", nn::Threshold(0.25, 3.0)},
        {"Softmax 1", nn::Softmax(1)},
        {"LogSoftmax 0", nn::LogSoftmax(0)},
        {"Softmin 1", nn::Softmin(1)},
        {"LeakyReLU 0.42", nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.42))},
        {"GELU tanh", nn::GELU(nn::GELUOptions().approximate("tanh"))}};
#define PLAIN(Name, ...) add_default<nn::Name>(by_name, #Name);
#define ACTIVATION(...) PLAIN(__VA_ARGS__)
#define IN_PLACE(...) PLAIN(__VA_ARGS__)
#define SWITCH(...) PLAIN(__VA_ARGS__)
#include "gradus/nn/activations.def"
    return by_name;
  }();
  return all;
}

// activation NAME ARGUMENTS... INPUT
Tensor activation_case(const Words& w) {
  std::string name = w[1];
  for (size_t i = 2; i + 2 < w.size(); ++i) name += " " + w[i];
  return result_or_gradient(w.back(),
                            [&](const Tensors& x) { return activations().at(name)(x[0]); },
                            {golden()[w[w.size() - 2]]});
}

// loss FUNCTION INPUT TARGET WEIGHT POS_WEIGHT REDUCTION
Tensor loss_case(const Words& w) {
  const auto optional = [](const std::string& name) {
    return name == "-" ? Tensor() : golden()[name];
  };
  const Reduction reduction = reduction_named(w[6]);
  const nn::L1Loss l1(reduction);
  const nn::BCEWithLogitsLoss bce(nn::BCEWithLogitsLossOptions()
                                      .weight(optional(w[4]))
                                      .pos_weight(optional(w[5]))
                                      .reduction(reduction));
  return result_or_gradient(
      w[7], [&](const Tensors& x) { return w[1] == "l1_loss" ? l1(x[0], x[1]) : bce(x[0], x[1]); },
      {golden()[w[2]], golden()[w[3]]});
}

const GoldenKinds kKinds = {
    {"linear", {linear_case, 64}},         {"linear_no_bias", {linear_case, 64}},
    {"mse_loss", {mse_case, 64}},          {"cross_entropy", {cross_entropy_case, 64}},
    {"nll_loss", {nll_case, 64}},          {"with_options", {options_case, 64}},
    {"activation", {activation_case, 64}}, {"loss", {loss_case, 64}},
};

TEST(NnGolden, MatchesPyTorch) { check_golden(golden(), kKinds); }

TEST(NnGolden, HasEveryActivation) {
  for (const auto& [name, module] : activations())
    EXPECT_TRUE(std::any_of(golden().cases.begin(), golden().cases.end(), [&](const auto& c) {
      return c.text.starts_with("activation " + name + " ");
    })) << name;
}

}  // namespace
}  // namespace gradus::test
