// Distances of many vectors, which go by a product.
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

Tensor normal_leaf(IntArrayRef sizes) { return randn(sizes, kDouble).requires_grad_(); }

TEST(Cdist, ByAProductIsTheNormOfDifferences) {
  for (const auto& [a, b] : {std::pair{Dims{30, 7}, Dims{4, 7}},
                             {Dims{4, 7}, Dims{26, 7}},
                             {Dims{2, 1, 30, 3}, Dims{5, 30, 3}},
                             {Dims{27, 0}, Dims{3, 0}}}) {
    const Tensor x = normal_leaf(a), y = normal_leaf(b);
    const Tensor fast = cdist(x, y), slow = cdist(x, y, 2, 2);
    EXPECT_EQ(fast.sizes(), slow.sizes());
    EXPECT_TRUE(fast.allclose(slow, 1e-9, 1e-9));
    if (fast.numel() == 0 || a.back() == 0) continue;
    EXPECT_EQ(fast.grad_fn()->name(), "EuclideanDistBackward0");
    const Tensor weights = randn(fast.sizes(), kDouble);
    const auto got = autograd::grad({(fast * weights).sum()}, {x, y});
    const auto want = autograd::grad({(slow * weights).sum()}, {x, y});
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(got[i].allclose(want[i], 1e-8, 1e-8));
  }
}
TEST(Cdist, HasDerivativesOfBothOrders) {
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{cdist(in[0], in[1], 2, 1)};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {normal_leaf({3, 2}), normal_leaf({4, 2})}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {normal_leaf({3, 2}), normal_leaf({2, 2})}));
}
TEST(Cdist, HasNoGradientWhereTwoAreOne) {
  const Tensor x = ones({30, 2}).requires_grad_();
  cdist(x, ones({1, 2})).sum().backward();
  EXPECT_TRUE(x.grad().equal(zeros({30, 2})));
}
TEST(Cdist, ModeAndDtypeAreChecked) {
  expect_error<ValueError>([] { cdist(ones({2, 2}), ones({2, 2}), 2, 3); }, "compute_mode is 3");
  expect_error<TypeError>([] { cdist(ones({30, 2}), ones({2, 2}, kLong)); }, "X2 got: Long");
}

}  // namespace
}  // namespace gradus
