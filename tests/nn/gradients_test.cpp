// Limits for gradients, and parameters as one vector.
#include <limits>

#include "tests/support.h"

namespace gradus {
namespace {

namespace utils = nn::utils;

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensors with_gradients(std::initializer_list<Tensor> gradients) {
  Tensors out;
  for (const Tensor& gradient : gradients) {
    out.push_back(zeros_like(gradient).set_requires_grad(true));
    out.back().mutable_grad() = gradient.clone();
  }
  return out;
}

TEST(ClipGradNorm, ScalesAllGradientsTogether) {
  const Tensor a = tensor({3.0, -4.0}, kDouble), b = tensor({{12.0}}, kDouble);
  for (const auto& [type, norm] : std::vector<std::pair<double, double>>{
           {2, 13}, {1, 19}, {kInf, 12}, {4, std::pow(81 + 256 + 20736, 0.25)}}) {
    Tensors parameters = with_gradients({a, b});
    parameters.push_back(ones({2}, requires_grad()));  // without a gradient
    EXPECT_NEAR(utils::clip_grad_norm_(parameters, 2, type), norm, 1e-12);
    const double scale = 2 / (norm + 1e-6);
    expect_values(parameters[0].grad(), {3 * scale, -4 * scale}, 1e-14);
    expect_values(parameters[1].grad(), {12 * scale}, 1e-14);
  }
}

// Each gradient stays on its device and of its dtype; the norm is of all.
TEST(ClipGradNorm, TakesParametersOfSeveralDevicesAndDtypes) {
  for (const Device other : cpu_and_cuda())
    for (const ScalarType dtype : {kFloat, kHalf}) {
      const Tensors parameters =
          with_gradients({tensor({3.0}, kFloat), tensor({4.0}, dtype).to(other),
                          tensor({12.0}, kDouble).to(other)});
      const std::vector<ScalarType> dtypes = {kFloat, dtype, kDouble};
      const std::vector<double> expected = {0.3, 0.4, 1.2};
      EXPECT_NEAR(utils::clip_grad_norm_(parameters, 1.3), 13, 1e-5);
      for (size_t i = 0; i < 3; ++i) {
        expect_values(parameters[i].grad(), {expected[i]}, 1e-3);
        EXPECT_EQ(parameters[i].grad().device().type(), i == 0 ? kCPU : other.type());
        EXPECT_EQ(parameters[i].grad().scalar_type(), dtypes[i]);
      }
    }
}

TEST(ClipGradNorm, LeavesSmallGradientsAlone) {
  const Tensors parameters = with_gradients({tensor({3.0, -4.0}, kFloat)});
  EXPECT_EQ(utils::clip_grad_norm_(parameters[0], 5.1), 5);
  expect_values(parameters[0].grad(), {3, -4}, 0);
  EXPECT_EQ(utils::clip_grad_norm_(ones({2}, requires_grad()), 1), 0);
  EXPECT_EQ(utils::clip_grad_norm_(Tensors{}, 1), 0);
}

TEST(ClipGradNorm, RefusesNormsThatAreNotFiniteWhereItIsAskedTo) {
  const Tensor values = tensor({1.0, kInf}, kFloat);
  const Tensors parameters = with_gradients({values});
  expect_error<Error>(
      [&] { utils::clip_grad_norm_(parameters, 1, 2, true); },
      "clip_grad_norm_: The total norm of order 2 for gradients from `parameters` is non-finite");
  EXPECT_TRUE(equal(parameters[0].grad(), values));
  EXPECT_EQ(utils::clip_grad_norm_(parameters, 1), kInf);
  expect_values(parameters[0].grad(), {0, std::nan("")});
}

TEST(ClipGradNorm, IsATotalNormAndAScale) {
  const Tensors gradients = {tensor({3.0, -4.0}, kDouble), tensor({{12.0}}, kDouble)};
  const Tensor total = utils::get_total_norm(gradients);
  expect_values(total, {13}, 1e-14);
  EXPECT_EQ(total.dim(), 0);
  expect_values(utils::get_total_norm(gradients, kInf), {12}, 0);
  EXPECT_EQ(utils::get_total_norm({}).item<float>(), 0);
  const Tensors parameters = with_gradients({gradients[0], gradients[1]});
  utils::clip_grads_with_norm_(parameters, 2, total);
  const double scale = 2 / (13 + 1e-6);
  expect_values(parameters[0].grad(), {3 * scale, -4 * scale}, 1e-14);
  expect_values(parameters[1].grad(), {12 * scale}, 1e-14);
  utils::clip_grads_with_norm_(parameters[1], 100, total);
  expect_values(parameters[1].grad(), {12 * scale}, 1e-14);
  utils::clip_grads_with_norm_(ones({2}, requires_grad()), 1, total);
  expect_error<Error>([] { utils::get_total_norm({tensor({kInf})}, 2, true); },
                      "get_total_norm: The total norm of order 2");
  expect_error<ValueError>(
      [&] { utils::clip_grads_with_norm_(parameters, 1, gradients[0]); },
      "clip_grads_with_norm_: total_norm has shape [2], expected one number; use get_total_norm");
}

TEST(ClipGradValue, LimitsEachElement) {
  const Tensors parameters = with_gradients({tensor({3.0, -4.0, 0.5}, kFloat)});
  utils::clip_grad_value_(parameters, 2);
  expect_values(parameters[0].grad(), {2, -2, 0.5}, 0);
  utils::clip_grad_value_(parameters[0], 1);
  expect_values(parameters[0].grad(), {1, -1, 0.5}, 0);
  expect_error<ValueError>([&] { utils::clip_grad_value_(parameters, -1); },
                           "clip_grad_value_: clip_value is -1; give 0 or more");
}

TEST(ParametersAsAVector, GoThereAndBack) {
  nn::Linear fc(3, 2);
  const Tensor vector = utils::parameters_to_vector(fc->parameters());
  expect_values(vector, to_vector(cat({fc->weight.flatten(), fc->bias})), 0);
  vector.square().sum().backward();  // the vector has the graph of the parameters
  EXPECT_TRUE(equal(fc->weight.grad(), 2 * fc->weight.detach()));
  const Tensor weight = fc->weight;
  utils::vector_to_parameters(arange(8, kFloat), fc->parameters());
  expect_values(weight, {0, 1, 2, 3, 4, 5});
  expect_values(fc->bias, {6, 7});
  EXPECT_TRUE(fc->weight.requires_grad() && fc->weight.is_leaf());
  expect_error<ValueError>([&] { utils::vector_to_parameters(ones({7}), fc->parameters()); },
                           "the vector has shape [7], and the parameters have 8 elements");
  expect_values(fc->bias, {6, 7});
}

TEST(ParametersAsAVector, AreOnOneDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Tensors parameters = {ones({2}), ones({2}, kCUDA)};
  expect_error<ValueError>([&] { utils::parameters_to_vector(parameters); },
                           "parameters are on cpu and on cuda:0; move them to one device");
  expect_error<ValueError>([&] { utils::vector_to_parameters(ones({4}), parameters); }, "on cpu");
}

}  // namespace
}  // namespace gradus
