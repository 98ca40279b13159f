// Softmax beyond the samples of tests/conformance/ops: both ways to compute its gradient agree;
// gradients at the edges and in 16 bits.
#include "gradus/gradus.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

using test::pick;

Tensor soft(bool log, const Tensor& x, int64_t dim, std::optional<ScalarType> dtype = {}) {
  return log ? log_softmax(x, dim, dtype) : softmax(x, dim, dtype);
}

TEST(Softmax, GradientsAgreeWithAndWithoutAGraphOfTheirOwn) {
  for (int round = 0; round < 20; ++round)
    for (const bool log : {false, true}) {
      const Tensor x = randn({pick(1, 30), pick(1, 30), pick(1, 30)}, kDouble).requires_grad_();
      const int64_t dim = pick(-3, 2);
      const Tensor y = soft(log, x, dim), grad = randn_like(y);
      const Tensor fused = autograd::grad({y}, {x}, {grad}, true)[0];
      const Tensor recorded = autograd::grad({y}, {x}, {grad}, true, true)[0];
      EXPECT_FALSE(fused.requires_grad());
      EXPECT_TRUE(recorded.requires_grad());
      EXPECT_LT((fused - recorded).abs().max().item<double>(), 1e-12) << log << dim << x.sizes();
    }
}

TEST(Softmax, AGradientOfOneNumberForAll) {
  const Tensor x = randn({4, 5}, kDouble).requires_grad_();
  softmax(x, 0).sum().backward();  // an expanded gradient; the columns' sums are 1
  EXPECT_LT(x.grad().abs().max().item<double>(), 1e-15);
  EXPECT_TRUE(x.grad().is_contiguous());
}

TEST(Softmax, MaskedElementsHaveNoGradient) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const bool log : {false, true}) {
    const Tensor x = tensor({0.0, -inf, 1.0}, kDouble).requires_grad_();
    soft(log, x, 0)[0].backward();
    const double p = 1 / (1 + std::exp(1));
    const double first = log ? 1 - p : p * (1 - p);
    expect_values(x.grad(), {first, 0, -first}, 1e-15);
  }
}

TEST(Softmax, SixteenBitsAreRoundedOnce) {
  const Tensor x = randn({8, 600}, kBFloat16).requires_grad_();
  const Tensor wide = x.detach().to(kFloat).requires_grad_();
  for (const bool log : {false, true}) {
    x.mutable_grad().reset(), wide.mutable_grad().reset();
    const Tensor y = soft(log, x, 1), z = soft(log, wide, 1);
    EXPECT_TRUE(y.equal(z.to(kBFloat16)));
    EXPECT_TRUE(soft(log, x, 1, kFloat).equal(z));
    y.backward(ones_like(y));
    EXPECT_EQ(x.grad().dtype(), kBFloat16);
  }
}

TEST(Softmax, ResultsAreRowMajor) {
  const Tensor x = randn({3, 4}).t();
  for (const int64_t dim : {0, 1}) {
    EXPECT_EQ(softmax(x, dim).strides(), (Dims{3, 1}));
    EXPECT_LT((softmax(x, dim) - softmax(x.contiguous(), dim)).abs().max().item<float>(), 1e-6f);
  }
}

}  // namespace
}  // namespace gradus
