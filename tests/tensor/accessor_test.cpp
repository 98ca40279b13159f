// Elements by their indices, and bytes as elements of another type.
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Accessor, ReadsAndWritesElementsOfAnyLayout) {
  const Tensor x = test::random_layout({2, 3, 4}, kFloat);
  auto a = x.accessor<float, 3>();
  const auto small = x.packed_accessor32<float, 3, RestrictPtrTraits>();
  const auto large = x.packed_accessor64<float, 3>();
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 4; ++k) {
        a[i][j][k] = static_cast<float>(100 * i + 10 * j + k);
        EXPECT_EQ(x[i][j][k].item<int64_t>(), 100 * i + 10 * j + k);
        EXPECT_EQ(small[static_cast<int>(i)][static_cast<int>(j)][static_cast<int>(k)], a[i][j][k]);
        EXPECT_EQ(large[i][j][k], a[i][j][k]);
      }
  EXPECT_EQ(a.sizes(), x.sizes());
  EXPECT_EQ(a.strides(), x.strides());
  EXPECT_EQ(a[1].size(0), 3);
  EXPECT_EQ(a[1][2].stride(0), x.stride(2));
  EXPECT_EQ(a[0].data(), x.data_ptr<float>());
  const auto constant = x.accessor<const float, 3>();
  static_assert(std::is_same_v<decltype(constant[0][0][0]), const float&>);
}

TEST(Accessor, RefusesOtherRanksAndTypes) {
  const Tensor x = ones({2, 3});
  expect_error<ValueError>([&] { x.accessor<float, 1>(); },
                           "accessor: TensorAccessor expected 1 dims but tensor has 2");
  expect_error<TypeError>([&] { x.accessor<double, 2>(); },
                          "expected scalar type Double but found Float; convert with .to(kDouble)");
  const Tensor wide = x.expand({int64_t{1} << 31, 2, 3});
  EXPECT_EQ((wide.packed_accessor64<float, 3>()[5][1][2]), 1);
  expect_error<ValueError>([&] { wide.packed_accessor32<float, 3>(); }, "beyond 32 bits");
  EXPECT_EQ((wide.packed_accessor<float, 3, DefaultPtrTraits, size_t>()[5][1][2]), 1);
  EXPECT_EQ((wide.generic_packed_accessor<float, 3>().size(0)), int64_t{1} << 31);
  expect_error<ValueError>(
      [&] { wide.generic_packed_accessor<float, 3, DefaultPtrTraits, int32_t>(); },
      "beyond 32 bits");
}

TEST(Accessor, RefusesMemoryThatIsNotTheHosts) {
  const Tensor meta = empty({2}, TensorOptions(kFloat).device(kMeta));
  expect_error<Error>([&] { meta.accessor<float, 1>(); }, "accessor: the tensor is on meta");
  if (!cuda::is_available()) return;
  const Tensor x = ones({2}, kCUDA);
  expect_error<Error>([&] { x.accessor<float, 1>(); }, "accessor: the tensor is on cuda:0");
  EXPECT_EQ((x.packed_accessor64<float, 1>().size(0)), 2);  // an argument of kernels
}

TEST(ViewDtype, ShowsTheSameBytes) {
  const Tensor x = tensor({1.0, -2.0, 0.5, 4.0}).view({2, 2});
  const Tensor bits = x.view(kInt);
  EXPECT_TRUE(bits.is_view() && bits.is_alias_of(x));
  EXPECT_EQ(bits[0][0].item<int>(), 0x3f800000);
  EXPECT_TRUE(equal(bits.view(kFloat), x));
  EXPECT_EQ(x.view(kByte).sizes(), IntArrayRef({2, 8}));
  EXPECT_EQ(x.view(kDouble).sizes(), IntArrayRef({2, 1}));
  EXPECT_TRUE(equal(x.view(kHalf)[1].view(kFloat), x[1]));
  EXPECT_TRUE(equal(x.view(kByte).view(kLong).view(kFloat), x));
  EXPECT_EQ(x.view(kByte)[1][0].storage_offset(), 8);
  EXPECT_EQ(x[0][0].view({}).dim(), 0);
  Tensor leaf = ones({2}, requires_grad());
  EXPECT_FALSE(leaf.view(kInt).requires_grad());
  expect_error<ValueError>([] { ones({2, 3}).view(kDouble); }, "do not divide");
  expect_error<ValueError>([] { ones({3, 2}).t().view(kByte); }, "has stride 2, expected 1");
  expect_error<ValueError>([] { ones({}).view(kByte); }, "without dimensions");
}

}  // namespace
}  // namespace gradus
