// The headers of c10/cuda under libtorch's names: streams, guards, the allocator, a limit of
// memory.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>
#include <torch/torch.h>
#include <torch/version.h>

namespace {

namespace CUDACachingAllocator = c10::cuda::CUDACachingAllocator;
using CUDACachingAllocator::StatType;

class CudaHeaders : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "there is no GPU";
  }
};

TEST_F(CudaHeaders, StreamsAreCurrentWithinTheirGuards) {
  const c10::cuda::CUDAStream first = c10::cuda::getCurrentCUDAStream();
  EXPECT_EQ(first, at::cuda::getDefaultCUDAStream());
  EXPECT_EQ(first.stream(), nullptr);
  const auto stream = at::cuda::getStreamFromPool(/*isHighPriority=*/true);
  {
    const c10::cuda::CUDAStreamGuard guard(stream);
    EXPECT_EQ(at::cuda::getCurrentCUDAStream(), stream);
    EXPECT_EQ(guard.current_stream(), stream);
    EXPECT_EQ(guard.original_stream(), first);
    const auto x = torch::ones({4}, torch::kCUDA) * 2;
    at::cuda::getCurrentCUDAStream().synchronize();
    EXPECT_EQ(x.sum().item<float>(), 8);
  }
  EXPECT_EQ(c10::cuda::getCurrentCUDAStream(stream.device_index()), first);
  CUstream_st* const handle = stream;  // a cudaStream_t
  EXPECT_EQ(handle, stream.handle());
}

TEST_F(CudaHeaders, GuardsTakeDevicesAndIndices) {
  const auto last = static_cast<c10::DeviceIndex>(c10::cuda::device_count() - 1);
  {
    c10::cuda::CUDAGuard guard(torch::Device(torch::kCUDA, last));
    EXPECT_EQ(c10::cuda::current_device(), last);
    EXPECT_EQ(guard.original_device(), torch::Device("cuda:0"));
    guard.set_index(0);
    EXPECT_EQ(guard.current_device(), torch::Device("cuda:0"));
    guard.set_device(torch::Device(torch::kCUDA, last));
    EXPECT_EQ(c10::cuda::current_device(), last);
  }
  EXPECT_EQ(c10::cuda::current_device(), 0);
  {
    c10::cuda::OptionalCUDAGuard guard;
    EXPECT_FALSE(guard.original_device().has_value());
    guard.set_index(last);
    EXPECT_EQ(guard.current_device(), torch::Device(torch::kCUDA, last));
    guard.reset();
    EXPECT_EQ(c10::cuda::current_device(), 0);
  }
  EXPECT_THROW(c10::cuda::CUDAGuard(torch::Device(torch::kCPU)), c10::Error);
  EXPECT_EQ(torch::ones({2}).cuda().device(), torch::Device("cuda:0"));
}

TEST_F(CudaHeaders, TheAllocatorCountsLimitsAndGivesBack) {
  const auto all = static_cast<size_t>(StatType::AGGREGATE);
  CUDACachingAllocator::emptyCache();
  CUDACachingAllocator::resetPeakStats(0);
  const auto before = CUDACachingAllocator::getDeviceStats(0);
  {
    const auto x = torch::empty({1 << 20}, torch::kCUDA);
    CUDACachingAllocator::recordStream(x.storage(), at::cuda::getStreamFromPool());
    EXPECT_GE(CUDACachingAllocator::getDeviceStats(0).allocated_bytes[all].current,
              before.allocated_bytes[all].current + (4 << 20));
  }
  CUDACachingAllocator::emptyCache();
  const auto after = CUDACachingAllocator::getDeviceStats(0);
  EXPECT_EQ(after.reserved_bytes[all].current, before.reserved_bytes[all].current);
  EXPECT_GE(after.reserved_bytes[all].peak, before.reserved_bytes[all].current + (4 << 20));
  CUDACachingAllocator::setMemoryFraction(0, 0);
  EXPECT_THROW(torch::empty({1 << 20}, torch::kCUDA), c10::Error);
  CUDACachingAllocator::setMemoryFraction(1, 0);
  EXPECT_EQ(torch::empty({1 << 20}, torch::kCUDA).numel(), 1 << 20);
}

TEST(TorchVersion, NamesWhatIsFollowed) {
  EXPECT_EQ(std::string(TORCH_VERSION), std::to_string(TORCH_VERSION_MAJOR) + "." +
                                            std::to_string(TORCH_VERSION_MINOR) + "." +
                                            std::to_string(TORCH_VERSION_PATCH));
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
