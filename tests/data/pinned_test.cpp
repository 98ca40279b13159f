// Page-locked memory: what is in it, when it is reused, and loaders that use it.
#include "tests/support.h"

namespace gradus {
namespace {

class Pinned : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  }
};

TEST_F(Pinned, HoldsTheSameElements) {
  const Tensor x = randn({3, 5});
  const Tensor copy = x.pin_memory();
  EXPECT_TRUE(copy.is_pinned() && copy.is_cpu());
  EXPECT_FALSE(x.is_pinned() || Tensor().is_pinned());
  EXPECT_TRUE(copy.equal(x));
  EXPECT_TRUE(copy.pin_memory().is_same(copy));
  EXPECT_TRUE(x.t().pin_memory().equal(x.t()));
  EXPECT_TRUE(copy[1].is_pinned());  // a view
  EXPECT_EQ(empty({0, 2}).pin_memory().sizes(), IntArrayRef({0, 2}));
  expect_values(copy + 1, to_vector(x + 1));
  expect_error<Error>([&] { x.to(kCUDA).pin_memory(); }, "only dense CPU tensors can be pinned");
}

TEST_F(Pinned, IsWhatFactoriesMakeWhereOptionsSaySo) {
  const auto pinned = TensorOptions(kDouble).pinned_memory(true);
  const Tensor base = zeros({2, 3});
  for (const Tensor& x :
       {empty({2, 3}, pinned), zeros({2, 3}, pinned), full({2, 3}, 7, pinned), eye(3, pinned),
        arange(5, pinned), linspace(0, 1, 4, pinned), rand({2, 2}, pinned), randn({2}, pinned),
        randint(5, {3}, pinned), randperm(4, pinned), empty_strided({2, 3}, {1, 2}, pinned),
        ones_like(base, pinned), base.new_full({2}, 3, pinned), tensor({1.0, 2.0}, pinned),
        empty({0, 2}, pinned), scalar_tensor(3, pinned)}) {
    EXPECT_TRUE(x.is_pinned() && x.is_cpu()) << x;
    EXPECT_EQ(x.scalar_type(), kDouble);
  }
  expect_values(tensor({1.0, 2.0}, pinned), {1, 2});
  expect_values(arange(3, pinned), {0, 1, 2});
  EXPECT_EQ(empty_strided({2, 3}, {1, 2}, pinned).strides(), IntArrayRef({1, 2}));
  EXPECT_TRUE(ones({2}, pinned.requires_grad(true)).requires_grad());
  EXPECT_FALSE(ones({2}, pinned.pinned_memory(false)).is_pinned());
  double here[2] = {1, 2};
  EXPECT_EQ(from_blob(here, {2}, pinned).data_ptr<double>(), here);
  expect_error<Error>([&] { zeros({2}, pinned.device(kCUDA)); },
                      "only memory of the CPU can be pinned");
}

TEST_F(Pinned, LetsGradientsThrough) {
  const Tensor x = ones({2}, requires_grad());
  (x.pin_memory() * 3).sum().backward();
  expect_values(x.grad(), {3, 3});
}

TEST_F(Pinned, IsReusedAfterItsCopiesAlone) {
  std::vector<Tensor> copies;
  const cuda::StreamGuard guard(cuda::getStreamFromPool());
  for (int i = 0; i < 50; ++i)
    copies.push_back(full({1000}, i).pin_memory().to(TensorOptions(kCUDA), /*non_blocking=*/true));
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(copies[static_cast<size_t>(i)].cpu().equal(full({1000}, i))) << i;
  // And back: the memory is written until the stream has come there.
  const Tensor back = empty({1000}).pin_memory();
  back.copy_(copies[7], /*non_blocking=*/true);
  cuda::getCurrentCUDAStream().synchronize();
  EXPECT_TRUE(back.equal(full({1000}, 7)));
}

TEST_F(Pinned, ServesALoader) {
  const Tensor rows = randn({40, 7});
  data::DataLoader loader(data::TensorPairDataset(rows, arange(40)),
                          data::DataLoaderOptions(8).pin_memory(true).workers(2));
  for (auto& [x, y] : loader) EXPECT_TRUE(x.is_pinned() && y.is_pinned());
  data::DataLoader ahead(data::TensorPairDataset(rows, arange(40)),
                         data::DataLoaderOptions(8).pin_memory(true).device(kCUDA).workers(2));
  for (int epoch = 0; epoch < 3; ++epoch) {
    int64_t at = 0;
    for (auto& [x, y] : ahead) {
      EXPECT_TRUE(x.is_cuda() && y.is_cuda());
      EXPECT_TRUE(x.cpu().equal(rows.narrow(0, at, 8)));
      at += 8;
    }
    EXPECT_EQ(at, 40);
  }
}

TEST_F(Pinned, ALoaderPinsWhatItCopiesToAGpu) {
  EXPECT_TRUE(data::detail::pins(data::DataLoaderOptions().device(kCUDA)));
  EXPECT_FALSE(data::detail::pins(data::DataLoaderOptions().device(kCPU)));
  // What lies there already stays.
  const Tensor rows = randn({40, 7}, kCUDA);
  data::DataLoader loader(data::TensorDataset(rows), data::DataLoaderOptions(40).device(kCUDA));
  for (auto& [x] : loader) EXPECT_TRUE(x.equal(rows));
}

TEST(PinnedWithoutADevice, IsAnErrorThatSaysWhy) {
  if (cuda::is_available()) GTEST_SKIP() << "there is a device";
  expect_error<Error>([] { ones({2}).pin_memory(); }, cuda::why_unavailable());
}

}  // namespace
}  // namespace gradus
