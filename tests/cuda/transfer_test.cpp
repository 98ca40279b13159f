// Copies between the CPU and GPUs, and which of them wait.
#include <cstring>

#include "gradus/tensor/raw/raw.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

using TransferTest = GpuTest;

// 0, 1, 2, ... on the CPU.
Tensor counted(int64_t count) {
  const Tensor x = raw::empty({count}, kLong, kCPU);
  for (int64_t i = 0; i < count; ++i) x.data_ptr<int64_t>()[i] = i;
  return x;
}

void expect_same_bytes(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.nbytes(), b.nbytes());
  EXPECT_EQ(std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()), 0);
}

TEST_F(TransferTest, ComesBackAsItWas) {
  for (const int64_t count : {1, 1000, 1 << 20}) {
    const Tensor x = counted(count);
    const Tensor on_gpu = raw::to(x, kCUDA);
    EXPECT_EQ(on_gpu.device(), Device("cuda:0"));
    expect_same_bytes(raw::to(on_gpu, kCPU), x);
  }
}

TEST_F(TransferTest, TheSourceMayChangeAtOnce) {
  const Tensor x = counted(1 << 20), expected = counted(1 << 20);
  const Tensor on_gpu = raw::to(x, kCUDA, true);
  std::memset(x.data_ptr(), 0, x.nbytes());
  expect_same_bytes(raw::to(on_gpu, kCPU), expected);
}

TEST_F(TransferTest, OnlyTheWayBackWaits) {
  const Tensor x = counted(1000);
  const Tensor warm_up = raw::to(x, kCUDA);
  cuda::Stats before = cuda::stats();
  const Tensor on_gpu = raw::to(x, kCUDA);
  cuda::Stats after = cuda::stats();
  EXPECT_EQ(after.host_to_device, before.host_to_device + 1);
  EXPECT_EQ(after.synchronizations, before.synchronizations);
  before = after;
  raw::to(on_gpu, kCPU);
  after = cuda::stats();
  EXPECT_EQ(after.device_to_host, before.device_to_host + 1);
  EXPECT_EQ(after.synchronizations, before.synchronizations + 1);
}

TEST_F(TransferTest, NothingIsMovedForAnEmptyTensor) {
  const cuda::Stats before = cuda::stats();
  EXPECT_EQ(raw::to(raw::to(counted(0), kCUDA), kCPU).numel(), 0);
  const cuda::Stats after = cuda::stats();
  EXPECT_EQ(after.host_to_device, before.host_to_device);
  EXPECT_EQ(after.synchronizations, before.synchronizations);
}

TEST_F(TransferTest, MemoryOfTheHostIsNoTensorOnAGpu) {
  std::vector<float> host(4, 1);
  const auto refused = [&](void* data, Device device) {
    return message_of<Error>([&] { from_blob(data, {4}, TensorOptions(kFloat).device(device)); });
  };
  EXPECT_NE(refused(host.data(), kCUDA).find("from_blob: data points to memory of the host"),
            std::string::npos);
  const Tensor x = arange(4, TensorOptions(kFloat).device(kCUDA));
  const Tensor same = from_blob(x.data_ptr(), {4}, TensorOptions(kFloat).device(kCUDA));
  EXPECT_TRUE(equal(same + 1, x + 1));
  if (cuda::device_count() > 1) {
    EXPECT_NE(refused(x.data_ptr(), Device(kCUDA, 1)).find("data points to memory of cuda:0"),
              std::string::npos);
  }
  EXPECT_EQ(from_blob(nullptr, {0}, TensorOptions(kFloat).device(kCUDA)).numel(), 0);
}

TEST_F(TransferTest, BetweenDevices) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  const Tensor x = counted(1 << 20);
  const Tensor first = raw::to(x, "cuda:0");
  const cuda::Stats before = cuda::stats();
  const Tensor second = raw::to(first, "cuda:1");
  const Tensor back = raw::to(second, "cuda:0");
  EXPECT_EQ(cuda::stats().device_to_device, before.device_to_device + 2);
  EXPECT_EQ(second.device(), Device("cuda:1"));
  expect_same_bytes(raw::to(second, kCPU), x);
  expect_same_bytes(raw::to(back, kCPU), x);
}

// On streams of the pool, because CUDA itself orders copies between default streams.
TEST_F(TransferTest, BetweenDevicesInOrderAndWithoutAWait) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  cuda::setCurrentCUDAStream(cuda::getStreamFromPool(false, 0));
  cuda::setCurrentCUDAStream(cuda::getStreamFromPool(false, 1));
  const int64_t count = kBusyElements;
  const Tensor first = raw::empty({count}, kFloat, "cuda:0");
  Tensor second = raw::to(first, "cuda:1");  // warm-up
  cuda::synchronize(0);
  cuda::synchronize(1);
  for (int round = 1; round <= 5; ++round) {
    const cuda::Stats before = cuda::stats();
    for (int i = 0; i < 50; ++i) raw::fill_(first, -1);
    raw::fill_(first, round);
    second = raw::to(first, "cuda:1");  // after the fills
    raw::fill_(first, -2);              // after the copy has read it
    EXPECT_EQ(cuda::stats().synchronizations, before.synchronizations);
    const Tensor result = raw::to(second, kCPU);
    for (int64_t i = 0; i < count; i += 997)
      ASSERT_EQ(result.data_ptr<float>()[i], static_cast<float>(round)) << i;
  }
  cuda::setCurrentCUDAStream(cuda::getDefaultCUDAStream(0));
  cuda::setCurrentCUDAStream(cuda::getDefaultCUDAStream(1));
}

}  // namespace
}  // namespace gradus
