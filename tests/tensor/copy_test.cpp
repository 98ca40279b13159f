// clone, contiguous, copy_, fill_ and to.
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

const std::vector<ScalarType> kDtypes = {kBool, kLong, kFloat, kDouble};

TEST(Copies, HoldTheSameElements) {
  for (int round = 0; round < 100; ++round) {
    const ScalarType dtype = kDtypes[static_cast<size_t>(test::pick(0, 3))];
    const Tensor x = test::random_tensor(test::random_sizes(4, 5), dtype);
    const Tensor copy = x.clone(), block = x.contiguous();
    EXPECT_TRUE(block.is_contiguous());
    EXPECT_TRUE(x.clone(MemoryFormat::Contiguous).is_contiguous());
    EXPECT_FALSE(copy.is_view());
    EXPECT_NE(copy.impl().storage, x.impl().storage);
    EXPECT_EQ(block.is_same(x), x.is_contiguous());
    for (int64_t i = 0; i < x.numel(); ++i) {
      EXPECT_EQ(test::get(copy, i), test::get(x, i));
      EXPECT_EQ(test::get(block, i), test::get(x, i));
    }
  }
}

// As libtorch's: dense tensors keep their strides, others the order of their dimensions.
TEST(Copies, LieInMemoryAsWhatTheyAreCopiesOf) {
  const Tensor x = randn({2, 3, 4}).permute({2, 0, 1});
  for (const Tensor& like : {x.clone(), empty_like(x), zeros_like(x), full_like(x, 3)}) {
    EXPECT_EQ(like.strides(), x.strides());
    EXPECT_FALSE(like.is_view());
  }
  EXPECT_TRUE(x.clone().equal(x));
  EXPECT_EQ(x.slice(0, 0, 4, 2).clone().strides(), IntArrayRef({1, 6, 2}));
  EXPECT_EQ(ones({3, 1}).expand({3, 2}).clone().strides(), IntArrayRef({2, 1}));
  EXPECT_EQ(ones_like(x, kInt).strides(), x.strides());
  EXPECT_TRUE(ones_like(x, requires_grad()).requires_grad());
  for (const Tensor& row_major :
       {x.clone(MemoryFormat::Contiguous), empty_like(x, {}, MemoryFormat::Contiguous),
        zeros_like(x, {}, MemoryFormat::Contiguous)})
    EXPECT_TRUE(row_major.is_contiguous());
}

TEST(Copies, ConvertBetweenAllDtypesLikeCpp) {
  const std::vector<double> values = {0, -0.0, 1, -1.75, 2.5, 1e6};
  for (ScalarType from : kDtypes)
    for (ScalarType to : kDtypes) {
      const Tensor x = test::tensor({6}, values, from), y = x.to(to);
      EXPECT_EQ(y.dtype(), to);
      EXPECT_EQ(y.is_same(x), from == to);
      for (int64_t i = 0; i < 6; ++i) {
        const double value = test::get(x, i);
        const double expected = to == kBool ? value != 0 : to == kLong ? std::trunc(value) : value;
        EXPECT_EQ(test::get(y, i), expected);
      }
    }
}

TEST(Copies, ToKeepsOrCopies) {
  const Tensor x = ones({2});
  EXPECT_TRUE(x.to(kCPU).is_same(x));
  EXPECT_TRUE(x.to(kFloat).is_same(x));
  EXPECT_FALSE(x.to(kFloat, false, /*copy=*/true).is_same(x));
  EXPECT_TRUE(x.to(TensorOptions()).is_same(x));
  EXPECT_EQ(x.to(dtype(kLong)).dtype(), kLong);
  EXPECT_EQ(x.type_as(ones({}, kDouble)).dtype(), kDouble);
}

TEST(Copies, CopyIntoBroadcastsAndConverts) {
  for (int round = 0; round < 100; ++round) {
    const Dims sizes = test::random_sizes(3, 4);
    Tensor to = test::random_layout(sizes, kDouble);
    Dims stored = sizes;
    for (int64_t& size : stored)
      if (test::pick(0, 2) == 0) size = 1;
    const Tensor from = test::random_tensor(stored, kLong);
    to.copy_(from);
    const Tensor wide = from.expand(sizes);
    for (int64_t i = 0; i < to.numel(); ++i) EXPECT_EQ(test::get(to, i), test::get(wide, i));
  }
}

TEST(Copies, CopyBetweenOverlappingViewsReadsBeforeItWrites) {
  Tensor x = arange(6);
  x.narrow(0, 1, 5).copy_(x.narrow(0, 0, 5));
  expect_values(x, {0, 0, 1, 2, 3, 4}, 0);
  Tensor square = arange(4).view({2, 2});
  square.copy_(square.t());
  expect_values(square, {0, 2, 1, 3}, 0);
  square.copy_(square);
  expect_values(square, {0, 2, 1, 3}, 0);
}

TEST(Copies, FillAndZeroReachEveryElementOfAView) {
  Tensor x = zeros({3, 4});
  x.narrow(1, 1, 2).fill_(2.5);
  expect_values(x, {0, 2.5, 2.5, 0, 0, 2.5, 2.5, 0, 0, 2.5, 2.5, 0}, 0);
  x.t()[1].zero_();
  expect_values(x, {0, 0, 2.5, 0, 0, 0, 2.5, 0, 0, 0, 2.5, 0}, 0);
}

TEST(Copies, RefuseWhatDoesNotFit) {
  Tensor x = zeros({2, 3});
  expect_error<ValueError>([&] { x.copy_(ones({4})); },
                           "copy_: The size of tensor a (3) must match the size of tensor b (4) at "
                           "non-singleton dimension 1");
  expect_error<ValueError>(
      [&] {
        x.copy_(ones({2, 2, 3}));
      },
      "copy_: output with shape [2, 3] doesn't match the broadcast shape "
      "[2, 2, 3]");
  expect_values(x, {0, 0, 0, 0, 0, 0}, 0);
  if (!cuda::is_available()) expect_error<Error>([&] { x.to(kCUDA); }, cuda::why_unavailable());
}

TEST(Items, ReadTheOneElement) {
  EXPECT_EQ(tensor({{2.5}}).item<double>(), 2.5);
  EXPECT_EQ(arange(5)[3].item<int64_t>(), 3);
  EXPECT_TRUE(tensor(true).item().isBoolean());
  expect_error<ValueError>([] { zeros({0}).item(); },
                           "a Tensor with 0 elements cannot be converted to Scalar; expected one");
}

}  // namespace
}  // namespace gradus
