// What follows from the options of a layer: constructors, printing, comparison, copies.
#include <sstream>

#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

template <class Module>
std::string printed_layer(const Module& module) {
  std::ostringstream out;
  out << module;
  const std::string text = out.str(), space = "gradus::nn::";
  EXPECT_TRUE(text.starts_with(space)) << text;
  return text.substr(std::min(text.size(), space.size()));
}

TEST(Options, AreListedInOrderAndComparedByValue) {
  const nn::LinearOptions options(3, 4);
  const auto [in, out, bias] = options.fields();
  EXPECT_EQ(in.name, "in_features");
  EXPECT_EQ(in.value, 3);
  EXPECT_EQ(out.value, 4);
  EXPECT_EQ(bias.name, "bias");
  EXPECT_TRUE(options == nn::LinearOptions(3, 4).bias(true));
  EXPECT_FALSE(options == nn::LinearOptions(3, 4).bias(false));
  EXPECT_FALSE(options == nn::LinearOptions(3, 5));
  const Tensor weight = ones({2});
  EXPECT_TRUE(nn::NLLLossOptions() == nn::NLLLossOptions());
  EXPECT_TRUE(nn::NLLLossOptions().weight(weight) == nn::NLLLossOptions().weight(weight));
  EXPECT_FALSE(nn::NLLLossOptions().weight(weight) == nn::NLLLossOptions().weight(ones({2})));
  EXPECT_FALSE(nn::NLLLossOptions() == nn::NLLLossOptions().weight(weight));
}

TEST(Options, AreTakenByTheModuleOrMadeFromItsArguments) {
  EXPECT_TRUE(nn::ReLU(true)->options.inplace());
  EXPECT_FALSE(nn::ReLU()->options.inplace());
  EXPECT_EQ(nn::Softmax(1)->options.dim(), 1);
  EXPECT_EQ(nn::Threshold(0.5, 2)->options.value(), 2);
  EXPECT_EQ(nn::Hardshrink()->options.lambda(), 0.5);
  EXPECT_EQ(nn::L1Loss(kNone)->options.reduction(), kNone);
  EXPECT_EQ(nn::BCEWithLogitsLoss()->options.reduction(), kMean);
  EXPECT_EQ(std::make_shared<nn::LinearImpl>(3, 4)->weight.sizes(), IntArrayRef({4, 3}));
  // Arguments without a default are needed; by_place_test.cpp has what else is taken.
  EXPECT_FALSE((std::is_constructible_v<nn::L1Loss, Tensor>));
  EXPECT_FALSE(std::is_default_constructible_v<nn::Linear>);
  EXPECT_FALSE(std::is_default_constructible_v<nn::Softmax>);
  EXPECT_FALSE((std::is_constructible_v<nn::Sequential, nn::Linear, int>));
}

// The texts are libtorch's (tests/conformance/libtorch/nn/modules.out).
TEST(Layer, PrintsItsOptions) {
  EXPECT_EQ(printed_layer(nn::Linear(nn::LinearOptions(3, 4).bias(false))),
            "Linear(in_features=3, out_features=4, bias=false)");
  EXPECT_EQ(printed_layer(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.42).inplace(true))),
            "LeakyReLU(negative_slope=0.42, inplace=true)");
  EXPECT_EQ(printed_layer(nn::ReLU()), "ReLU()");
  EXPECT_EQ(printed_layer(nn::Hardshrink(0.25)), "Hardshrink(0.25)");
  EXPECT_EQ(printed_layer(nn::GELU()), "GELU()");
  EXPECT_EQ(printed_layer(nn::Softmax(1)), "Softmax(dim=1)");
  EXPECT_EQ(printed_layer(nn::RReLU()), "RReLU(lower=0.125, upper=0.333333)");
  EXPECT_EQ(printed_layer(nn::Tanh()), "Tanh()");
  EXPECT_EQ(printed_layer(nn::CrossEntropyLoss()), "CrossEntropyLoss()");
  EXPECT_EQ(
      printed_layer(nn::Sequential(nn::Sequential(nn::Linear(1, 2), nn::ReLU6()), nn::Mish())),
      "Sequential(\n"
      "  (0): gradus::nn::Sequential(\n"
      "    (0): gradus::nn::Linear(in_features=1, out_features=2, bias=true)\n"
      "    (1): gradus::nn::ReLU6()\n"
      "  )\n"
      "  (1): gradus::nn::Mish()\n"
      ")");
}

struct ScaleOptions {
  GRADUS_OPTIONS(ScaleOptions, ARGUMENT(int64_t, features), OPTION(double, start, 1));
};
struct ScaleImpl : nn::Layer<ScaleImpl, ScaleOptions> {
  using Layer::Layer;
  void reset() override {
    weight = register_parameter("weight", full({options.features()}, options.start()));
  }
  Tensor forward(const Tensor& input) { return input * weight; }
  Tensor weight;
  CallReset call_reset{*this};
};
GRADUS_MODULE(Scale);

TEST(Layer, IsAllThatALayerOfOnesOwnNeeds) {
  const Scale scale(ScaleOptions(2).start(3));
  expect_values(scale(ones({2})), {3, 3});
  expect_values(Scale(3)(ones({3})), {1, 1, 1});
  const auto copy = std::dynamic_pointer_cast<ScaleImpl>(scale->clone());
  {
    const NoGradGuard guard;
    copy->weight.fill_(5);
  }
  EXPECT_EQ(copy->parameters().size(), 1u);
  EXPECT_TRUE(copy->options == scale->options);
  expect_values(copy->forward(ones({2})), {5, 5});
  expect_values(scale->weight, {3, 3});
  EXPECT_EQ(scale->name(), "Scale");
}

TEST(Layer, SaysThatAnInputIsUndefined) {
  const Tensor none, some = ones({2, 2});
  expect_error<ValueError>([&] { nn::Linear(2, 2)(none); },
                           "Linear: input is undefined, expected a tensor; assign it one first");
  expect_error<ValueError>([&] { nn::LeakyReLU()(none); }, "LeakyReLU: input is undefined");
  expect_error<ValueError>([&] { nn::RReLU()(none); }, "RReLU: input is undefined");
  expect_error<ValueError>([&] { F::mse_loss(none, some); }, "mse_loss: input is undefined");
  expect_error<ValueError>([&] { nn::L1Loss()(some, none); }, "l1_loss: target is undefined");
  expect_error<ValueError>([&] { F::nll_loss(some, none); }, "nll_loss: target is undefined");
  expect_error<ValueError>([&] { F::cross_entropy(none, some); }, "cross_entropy: input is un");
  expect_error<ValueError>([&] { nn::BCEWithLogitsLoss()(none, some); },
                           "binary_cross_entropy_with_logits: input is undefined");
}

TEST(Layer, AnEmptyHolderNamesItsTypeAndTheWayOut) {
  const nn::Linear fc(nullptr);
  expect_error<Error>([&] { fc(ones({1})); },
                      "gradus::nn::Linear: Accessing empty ModuleHolder, expected a module; "
                      "write the member as `Linear x{nullptr};` and assign it in the constructor: "
                      "x = register_module(\"x\", Linear(...))");
  const Scale scale(nullptr);
  expect_error<Error>([&] { scale->forward(ones({1})); }, "Scale: Accessing empty ModuleHolder");
}

template <class Module>
void check_slopes(const char* name, const Module& module) {
  SCOPED_TRACE(name);
  const Tensor x = tensor({-1.75, -0.3, 0.2, 0.75}, kDouble).view({2, 2}).requires_grad_();
  const auto f = [&](const Tensors& in) { return Tensors{module->forward(in[0])}; };
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x}));
  EXPECT_EQ(module->clone()->name(), name);
  EXPECT_EQ(printed_layer(*module->clone()), printed_layer(module));
}
template <class Module>
void check_default(const char* name) {
  if constexpr (std::is_default_constructible_v<Module>) check_slopes(name, Module());
}

TEST(Activations, EveryRowHasTheSlopesOfItsFunction) {
#define PLAIN(Name, ...) check_default<nn::Name>(#Name);
#define ACTIVATION(...) PLAIN(__VA_ARGS__)
#define IN_PLACE(...) PLAIN(__VA_ARGS__)
#define SWITCH(...) PLAIN(__VA_ARGS__)
#include "gradus/nn/activations.def"
  check_slopes("Threshold", nn::Threshold(0.1, 2));
  check_slopes("Softmax", nn::Softmax(1));
  check_slopes("LogSoftmax", nn::LogSoftmax(0));
  check_slopes("Softmin", nn::Softmin(1));
}

// The defaults, or for Threshold, which has none, two numbers.
template <class Options>
Options made() {
  if constexpr (std::is_default_constructible_v<Options>)
    return {};
  else
    return Options(0.5, -1);
}

TEST(Activations, OverwriteTheInputWhereTheyAreToldTo) {
  const auto check_in_place = [](const char* name, auto options, auto function) {
    SCOPED_TRACE(name);
    const Tensor start = tensor({-2.0, -0.3, 0.6, 8.0}), x = start.clone();
    const Tensor expected = function(start, options);
    expect_values(start, {-2, -0.3, 0.6, 8});
    EXPECT_TRUE(function(x, options.inplace(true)).is_same(x));
    expect_values(x, to_vector(expected), 0);
  };
#define IN_PLACE(Name, function, ...) check_in_place(#Name, made<nn::Name##Options>(), F::function);
#define SWITCH(...) IN_PLACE(__VA_ARGS__)
#include "gradus/nn/activations.def"
  const Tensor x = tensor({-1.0, 1.0});
  nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.5).inplace(true))(x);
  expect_values(x, {-0.5, 1});
}

TEST(Activations, RReLUDrawsSlopesInTrainingAlone) {
  const nn::RReLU module(nn::RReLUOptions().lower(0.2).upper(0.4));
  const Tensor y = -module(full({1000}, -1.0));
  EXPECT_GE(y.min().item<double>(), 0.2);
  EXPECT_LE(y.max().item<double>(), 0.4);
  EXPECT_GT((y.max() - y.min()).item<double>(), 0.1);
  module->eval();
  expect_values(module(tensor({-1.0, 2.0})), {-0.3, 2});
}

TEST(Activations, SoftmaxTakesADtypeAsItsFunctionDoes) {
  const Tensor x = tensor({1.0f, 2.0f});
  EXPECT_EQ(F::softmax(x, F::SoftmaxFuncOptions(0).dtype(kDouble)).dtype(), kDouble);
  EXPECT_EQ(nn::Softmax(nn::SoftmaxOptions(0).dtype(kDouble))(x).dtype(), kDouble);
  EXPECT_EQ(nn::LogSoftmax(0)(x).dtype(), kFloat);
}

TEST(Dropout1d, LeavesOutWholeChannels) {
  const Tensor rows = ones({64, 5});
  for (const Tensor& x : {rows, rows.view({4, 16, 5})}) {
    const Tensor y = nn::Dropout1d(0.5)(x).view({64, 5});
    EXPECT_TRUE(equal(y, y.narrow(1, 0, 1).expand_as(y)));
    EXPECT_EQ(y.min().item<float>(), 0);
    EXPECT_EQ(y.max().item<float>(), 2);
  }
  const Tensor x = rows.clone();
  EXPECT_TRUE(F::dropout1d(x, F::Dropout1dFuncOptions().p(1).inplace(true)).is_same(x));
  EXPECT_EQ(x.sum().item<float>(), 0);
  expect_error<ValueError>([&] { nn::Dropout1d()(ones({2})); },
                           "dropout1d: Expected 2D or 3D input, but received a 1D input");
}

TEST(BatchNorm, ABatchMayBeEmptyWhileTraining) {
  nn::BatchNorm1d norm(3);
  EXPECT_EQ(norm(ones({0, 3})).sizes(), IntArrayRef({0, 3}));
  expect_values(norm->running_mean, {0, 0, 0}, 0);
  EXPECT_EQ(nn::BatchNorm2d(3)(ones({0, 3, 2, 2})).sizes(), IntArrayRef({0, 3, 2, 2}));
  expect_error<ValueError>([&] { norm(ones({1, 3})); }, "Expected more than 1 value per channel");
}

}  // namespace
}  // namespace gradus
