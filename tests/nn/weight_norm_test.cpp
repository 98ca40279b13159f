// weight_norm and spectral_norm against PyTorch's (tests/conformance/golden/norms.py).
#include "tests/conformance/golden/golden.h"
#include "tests/support.h"

namespace gradus::test {
namespace {

namespace utils = nn::utils;

const Golden& golden_norms() {
  static const Golden read(recorded("golden/norms.txt"));
  return read;
}

nn::Linear golden_linear() {
  const NoGradGuard guard;
  nn::Linear out(4, 3);
  out->to(kDouble);
  out->weight.copy_(golden_norms()["weight"]);
  out->bias.copy_(golden_norms()["bias"]);
  return out;
}

nn::ConvTranspose2d golden_transposed() {
  const NoGradGuard guard;
  nn::ConvTranspose2d out(nn::ConvTranspose2dOptions(3, 4, 2).bias(false));
  out->to(kDouble);
  out->weight.copy_(golden_norms()["kernel"]);
  return out;
}

// The output of the last call, then the gradients of all parameters by name.
template <class Module>
Tensor output_and_gradients(Module module, const std::string& x, int64_t calls = 1) {
  Tensor y;
  for (int64_t i = 0; i < calls; ++i) y = module(golden_norms()[x]);
  y.square().sum().backward();
  std::map<std::string, Tensor> sorted;
  for (const auto& item : module->named_parameters()) sorted[item.key()] = item.value().grad();
  Tensors parts = {y.flatten()};
  for (const auto& [name, gradient] : sorted) parts.push_back(gradient.flatten());
  return cat(parts).detach();
}

Tensor weight_normed(const Words& w) {
  if (w[1] == "conv")
    return output_and_gradients(utils::weight_norm(golden_transposed(), "weight", 1), "image");
  if (w[1] == "bias") return output_and_gradients(utils::weight_norm(golden_linear(), "bias"), "x");
  return output_and_gradients(utils::weight_norm(golden_linear(), "weight", std::stoll(w[1])), "x");
}

template <class Module>
Module with_vectors(Module module) {
  const NoGradGuard guard;
  const auto buffers = module->named_buffers();
  Tensor u = buffers["weight_u"], v = buffers["weight_v"];
  const Tensor first = cat({golden_norms()["u"], golden_norms()["v"]}).slice(0, 0, u.numel());
  u.copy_(first / first.norm());
  v.fill_(1 / std::sqrt(static_cast<double>(v.numel())));
  return module;
}

Tensor spectral_normed(const Words& w) {
  if (w[1] == "conv")
    return output_and_gradients(with_vectors(utils::spectral_norm(golden_transposed())), "image",
                                2);
  if (w[1] == "eval") {
    const nn::Linear fc = with_vectors(utils::spectral_norm(golden_linear()));
    fc->eval();
    return output_and_gradients(fc, "x", 2);
  }
  const nn::Linear fc = utils::spectral_norm(golden_linear(), "weight", std::stoll(w[2]));
  return output_and_gradients(with_vectors(fc), "x", std::stoll(w[1]));
}

TEST(WeightNorm, MatchesPyTorch) {
  check_golden(golden_norms(),
               {{"weight_norm", {weight_normed, 1e3}}, {"spectral_norm", {spectral_normed, 1e3}}});
}

TEST(WeightNorm, ChangesTheParametersAndIsRemoved) {
  const nn::Linear fc = utils::weight_norm(golden_linear());
  EXPECT_EQ(fc->named_parameters().keys(),
            (std::vector<std::string>{"bias", "weight_g", "weight_v"}));
  EXPECT_EQ(fc->named_parameters()["weight_g"].sizes(), IntArrayRef({3, 1}));
  const Tensor x = golden_norms()["x"], y = fc(x);
  {
    const NoGradGuard guard;
    fc->named_parameters()["weight_g"].mul_(2);
  }
  EXPECT_TRUE(allclose(fc(x) - fc->bias, 2 * (y - fc->bias)));
  utils::remove_weight_norm(fc);
  EXPECT_EQ(fc->named_parameters().keys(), (std::vector<std::string>{"bias", "weight"}));
  EXPECT_TRUE(fc->weight.is_leaf() && fc->weight.requires_grad());
  EXPECT_TRUE(allclose(fc(x) - fc->bias, 2 * (y - fc->bias)));
  EXPECT_TRUE(allclose(fc->weight, 2 * golden_norms()["weight"]));
}

TEST(WeightNorm, TwoCallsMayComeBeforeTheBackward) {
  const nn::Linear fc = utils::spectral_norm(golden_linear());
  const Tensor x = golden_norms()["x"];
  (fc(x).sum() - fc(2 * x).sum()).backward();
  EXPECT_TRUE(fc->named_parameters()["weight_orig"].grad().defined());
  EXPECT_EQ(fc->named_buffers().keys(), (std::vector<std::string>{"weight_u", "weight_v"}));
  utils::remove_spectral_norm(fc);
  EXPECT_TRUE(fc->buffers().empty());
  // The largest singular value is near 1 after some steps.
  const nn::Linear long_trained = utils::spectral_norm(golden_linear(), "weight", 50);
  long_trained(x);
  const Tensor w = long_trained->weight.detach();
  Tensor v = ones({4}, kDouble);
  for (int i = 0; i < 200; ++i) v = w.t().mv(w.mv(v)), v = v / v.norm();
  EXPECT_NEAR(w.mv(v).norm().item<double>(), 1, 1e-6);
}

TEST(WeightNorm, RefusesWhatHasNoSuchParameter) {
  expect_error<ValueError>([] { utils::weight_norm(nn::Linear(2, 2), "no"); },
                           "Linear has no member no; give the name of its weight or bias");
  expect_error<ValueError>([] { utils::weight_norm(utils::weight_norm(nn::Linear(2, 2))); },
                           "No Parameter with name `weight` is registered");
  expect_error<ValueError>([] { utils::remove_spectral_norm(nn::Linear(2, 2)); },
                           "Linear has no parameter weight_orig");
  expect_error<ValueError>([] { utils::spectral_norm(nn::Linear(2, 2), "weight", 0); },
                           "n_power_iterations is 0, expected 1 or more");
  expect_error<Error>([] { utils::weight_norm(nn::Linear(2, 2))->clone(); },
                      "does not have the same parameters");
}

}  // namespace
}  // namespace gradus::test
