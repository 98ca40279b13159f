// Counts of launches, and how an index out of range in a kernel is reported.
#include "gradus/tensor/raw/raw.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

struct LaunchTest : GpuTest {
  static Tensor index_of(std::initializer_list<int64_t> values) {
    const Tensor index = raw::empty({static_cast<int64_t>(values.size())}, kLong, kCPU);
    std::copy(values.begin(), values.end(), index.data_ptr<int64_t>());
    return raw::to(index, kCUDA);
  }
  static Tensor filled(IntArrayRef sizes, double value) {
    const Tensor x = raw::empty(sizes, kFloat, kCUDA);
    raw::fill_(x, value);
    return x;
  }
};

TEST_F(LaunchTest, EveryKernelCounts) {
  const Tensor x = filled({100}, 1);
  const int64_t before = cuda::stats().kernel_launches;
  raw::fill_(x, 2);
  EXPECT_EQ(cuda::stats().kernel_launches, before + 1);
  raw::map_(UnaryOp::neg, x);
  EXPECT_EQ(cuda::stats().kernel_launches, before + 2);
}

TEST_F(LaunchTest, AnEmptyTensorLaunchesNothing) {
  const int64_t before = cuda::stats().kernel_launches;
  raw::map(UnaryOp::exp, filled({0, 3}, 1));
  EXPECT_EQ(cuda::stats().kernel_launches, before);
}

TEST_F(LaunchTest, QueuedWorkDoesNotWait) {
  const Tensor x = filled({1 << 20}, 1);
  raw::zip(BinaryOp::add, x, x);
  const cuda::Stats before = cuda::stats();
  for (int i = 0; i < 10; ++i) raw::map(UnaryOp::square, raw::zip(BinaryOp::add, x, x));
  EXPECT_EQ(cuda::stats().synchronizations, before.synchronizations);
}

TEST_F(LaunchTest, AnIndexOutOfRangeComesUpAtTheNextWait) {
  const Tensor x = filled({5}, 3), index = index_of({0, 7, 1});
  cuda::synchronize();
  const Tensor out = raw::gather(x, 0, index);
  const std::string text = message_of<IndexError>([] { cuda::synchronize(); });
  EXPECT_CONTAINS(text, "gather: index 7 is out of bounds for dimension 0 with size 5");
  EXPECT_CONTAINS(text, "cuda:0");
  EXPECT_NO_THROW(cuda::synchronize()) << "reported once";
  EXPECT_EQ(raw::item(raw::narrow(out, 0, 2, 1)).to<float>(), 3.f) << "the others are right";
}

TEST_F(LaunchTest, AnIndexOutOfRangeComesUpAtACopyToTheCpu) {
  const Tensor x = filled({5}, 3), index = index_of({-1});
  const Tensor out = raw::gather(x, 0, index);
  EXPECT_CONTAINS(message_of<IndexError>([&] { raw::item(out); }), "gather: index -1 is out of");
  EXPECT_EQ(raw::item(raw::gather(x, 0, index_of({4}))).to<float>(), 3.f);
}

TEST_F(LaunchTest, TheFirstOfManyFaultsIsReportedOnce) {
  const Tensor x = filled({2}, 3);
  const Tensor index = raw::empty({1 << 16}, kLong, kCUDA);
  raw::fill_(index, 9);
  const Tensor src = filled({1 << 16}, 1);
  EXPECT_CONTAINS(message_of<IndexError>([&] {
                    raw::scatter_("scatter_add", ScatterOp::sum, x, 0, index, src);
                    cuda::synchronize();
                  }),
                  "scatter_add: index 9 is out of bounds for dimension 0 with size 2");
  EXPECT_NO_THROW(cuda::synchronize());
}

TEST_F(LaunchTest, FaultsBelongToTheirDevice) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  const Tensor x = raw::to(filled({5}, 3), "cuda:1"), index = raw::to(index_of({5}), "cuda:1");
  raw::gather(x, 0, index);
  EXPECT_NO_THROW(cuda::synchronize(0));
  EXPECT_CONTAINS(message_of<IndexError>([] { cuda::synchronize(1); }), "cuda:1");
}

}  // namespace
}  // namespace gradus
