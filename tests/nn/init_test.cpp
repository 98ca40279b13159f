// Initial values: exact ones, distributions, and what is refused.
#include "tests/support.h"

namespace gradus {
namespace {

namespace init = nn::init;

double deviation(const Tensor& x) { return x.to(kDouble).std(false).item<double>(); }
double largest(const Tensor& x) { return x.abs().max().item<double>(); }

TEST(Init, GainsAreThoseOfPyTorch) {
  EXPECT_EQ(init::calculate_gain(kLinear), 1);
  EXPECT_EQ(init::calculate_gain(kConvTranspose3D), 1);
  EXPECT_EQ(init::calculate_gain(kSigmoid), 1);
  EXPECT_EQ(init::calculate_gain(kTanh), 5.0 / 3);
  EXPECT_EQ(init::calculate_gain(kReLU), std::sqrt(2.0));
  EXPECT_EQ(init::calculate_gain(kLeakyReLU), std::sqrt(2 / (1 + 1e-4)));
  EXPECT_EQ(init::calculate_gain(kLeakyReLU, 2), std::sqrt(2.0 / 5));
  expect_error<ValueError>([] { init::calculate_gain(kGELU); }, "calculate_gain: kGELU");
}

TEST(Init, FansCountTheWindow) {
  EXPECT_EQ(init::_calculate_fan_in_and_fan_out(empty({4, 5})), std::make_tuple(5, 4));
  EXPECT_EQ(init::_calculate_fan_in_and_fan_out(empty({4, 5, 2, 3})), std::make_tuple(30, 24));
  const char* const why = "the tensor has shape [4], expected at least 2 dimensions";
  expect_error<ValueError>([] { init::_calculate_fan_in_and_fan_out(empty({4})); }, why);
  expect_error<ValueError>([] { init::xavier_uniform_(empty({4})); }, why);
  expect_error<ValueError>([] { init::kaiming_normal_(empty({4})); }, why);
}

TEST(Init, DistributionsHaveTheirDeviationAndBounds) {
  manual_seed(3);
  const Tensor w = empty({200, 100, 2});  // fan_in 200, fan_out 400
  const auto uniform = [&](const Tensor& x, double std) {
    EXPECT_NEAR(deviation(x), std, 0.02 * std);  // 4 deviations of the estimate from 40,000
    EXPECT_LE(largest(x), std::sqrt(3.0) * std * (1 + 1e-6));
    EXPECT_GT(largest(x), std::sqrt(3.0) * std * 0.999);
  };
  const auto normal = [&](const Tensor& x, double std) {
    EXPECT_NEAR(deviation(x), std, 0.02 * std);
    EXPECT_GT(largest(x), 3 * std);
  };
  uniform(init::xavier_uniform_(w, 3), 3 * std::sqrt(2.0 / 600));
  normal(init::xavier_normal_(w, 3), 3 * std::sqrt(2.0 / 600));
  uniform(init::kaiming_uniform_(w), std::sqrt(2.0 / 200));
  uniform(init::kaiming_uniform_(w, 1, kFanOut), std::sqrt(1.0 / 400));
  uniform(init::kaiming_uniform_(w, 7, kFanIn, kReLU), std::sqrt(2.0 / 200));
  normal(init::kaiming_normal_(w, 0, kFanOut, kTanh), 5 / 3.0 / 20);
  normal(init::normal_(w, 0, 0.5), 0.5);
  uniform(init::uniform_(w, -1, 1), 1 / std::sqrt(3.0));
}

TEST(Init, EmptyWeightsStayEmpty) {
  EXPECT_EQ(init::kaiming_uniform_(empty({3, 0})).numel(), 0);
  EXPECT_EQ(init::kaiming_normal_(empty({0, 3})).numel(), 0);
  EXPECT_EQ(init::xavier_uniform_(empty({0, 0})).numel(), 0);
  EXPECT_EQ(init::orthogonal_(empty({0, 3})).numel(), 0);
  EXPECT_EQ(init::sparse_(empty({0, 3}), 0.5).numel(), 0);
}

TEST(Init, ConstantsOnesZerosAndTheIdentity) {
  const Tensor w = empty({2, 3}, requires_grad());
  expect_values(init::constant_(w, 2.5), std::vector<double>(6, 2.5));
  expect_values(init::ones_(w), std::vector<double>(6, 1));
  expect_values(init::eye_(w), {1, 0, 0, 0, 1, 0});
  expect_values(init::zeros_(w), std::vector<double>(6, 0));
  EXPECT_TRUE(w.is_leaf());
  expect_error<ValueError>(
      [] {
        init::eye_(empty({2, 2, 2}));
      },
      "eye_: the tensor has shape [2, 2, 2], expected 2 dimensions");
}

TEST(Init, AConvolutionByDiracReturnsItsInput) {
  for (int64_t dims = 1; dims <= 3; ++dims) {
    std::vector<int64_t> kernel(static_cast<size_t>(dims) + 2, 3), size(kernel.size(), 5);
    size[0] = 1, size[1] = 3;
    const Tensor x = gradus::randn(size), w = init::dirac_(gradus::empty(kernel));
    const std::vector<int64_t> ones(static_cast<size_t>(dims), 1), zeros(ones.size(), 0);
    EXPECT_TRUE(equal(convolution(x, w, {}, ones, ones, ones, false, zeros, 1), x));
  }
  expect_values(init::dirac_(empty({3, 2, 2})), {0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
  expect_error<ValueError>(
      [] {
        init::dirac_(empty({2, 2}));
      },
      "dirac_: the tensor has shape [2, 2], expected 3, 4 or 5 dimensions");
}

TEST(Init, OrthogonalMatricesAreOrthogonal) {
  manual_seed(4);
  const auto expect_orthogonal = [](const Tensor& w, double gain, double tolerance) {
    Tensor m = w.detach().to(kDouble).reshape({w.size(0), -1});
    if (m.size(0) > m.size(1)) m = m.t();
    const Tensor gram = m.matmul(m.t());
    EXPECT_LT(largest(gram - gain * gain * eye(m.size(0), kDouble)), tolerance);
  };
  expect_orthogonal(init::orthogonal_(empty({40, 40}, kDouble)), 1, 1e-14);
  expect_orthogonal(init::orthogonal_(empty({7, 30}, kDouble), 2), 2, 1e-14);
  expect_orthogonal(init::orthogonal_(empty({30, 7}, requires_grad())), 1, 1e-6);
  expect_orthogonal(init::orthogonal_(empty({8, 3, 2, 2}), 0.5), 0.5, 1e-6);
  // No direction is preferred: the traces of many have mean 0.
  double sum = 0;
  for (int i = 0; i < 200; ++i) sum += init::orthogonal_(empty({3, 3})).trace().item<double>();
  EXPECT_LT(std::abs(sum / 200), 4 / std::sqrt(200));  // a trace has variance 1
  expect_error<ValueError>([] { init::orthogonal_(empty({4})); }, "orthogonal_: the tensor has");
}

TEST(Init, SparseColumnsHaveTheirZeros) {
  manual_seed(5);
  const Tensor w = init::sparse_(empty({7, 5}), 0.5, 2);
  expect_values(w.eq(0).sum(0), {4, 4, 4, 4, 4});
  EXPECT_GT(w.ne(0).any(1).sum().item<int64_t>(), 4);  // not the same rows everywhere
  EXPECT_GT(largest(w), 2);
  EXPECT_EQ(init::sparse_(empty({7, 5}), 0).eq(0).sum().item<int64_t>(), 0);
  expect_error<ValueError>(
      [] {
        init::sparse_(empty({7, 5}), 1.5);
      },
      "sparse_: sparsity is 1.5, expected a number from 0 to 1");
  expect_error<ValueError>([] { init::sparse_(empty({7}), 0.5); }, "expected 2 dimensions");
}

}  // namespace
}  // namespace gradus
