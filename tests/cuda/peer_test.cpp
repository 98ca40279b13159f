// Copies between GPUs on a given stream.
#include "gradus/cuda/runtime/peer.h"

#include <cstring>

#include "gradus/tensor/raw/raw.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

using PeerTest = GpuTest;

Tensor numbers(int64_t count) {
  const Tensor x = raw::empty({count}, kLong, kCPU);
  for (int64_t i = 0; i < count; ++i) x.data_ptr<int64_t>()[i] = i;
  return x;
}

TEST_F(PeerTest, CopiesWithinAndBetweenDevicesOnTheGivenStream) {
  const Tensor x = numbers(1000);
  const int last = static_cast<int>(cuda::device_count()) - 1;
  for (const int to : {0, last}) {
    const Tensor from = raw::to(x, "cuda:0");
    const Tensor copy = raw::empty({1000}, kLong, Device(kCUDA, static_cast<DeviceIndex>(to)));
    cuda::synchronize(0);
    const cuda::Stream stream = cuda::getStreamFromPool(false, to);
    const cuda::Stats before = cuda::stats();
    cuda::copy_async(copy, from, stream);
    EXPECT_EQ(cuda::stats().device_to_device, before.device_to_device + 1);
    EXPECT_EQ(cuda::stats().synchronizations, before.synchronizations);
    stream.synchronize();
    const Tensor back = raw::to(copy, kCPU);
    EXPECT_EQ(std::memcmp(back.data_ptr(), x.data_ptr(), x.nbytes()), 0);
  }
}

TEST_F(PeerTest, AccessIsSaidTheSameEveryTime) {
  EXPECT_TRUE(cuda::enable_peer_access(0, 0));
  EXPECT_TRUE(cuda::enable_peer_access(-1, -1));  // the current device
  const int count = static_cast<int>(cuda::device_count());
  EXPECT_EQ(cuda::enable_peer_access(0, count - 1), cuda::enable_peer_access(0, count - 1));
  EXPECT_CONTAINS(message_of<ValueError>([&] { cuda::enable_peer_access(0, count); }),
                  "does not exist");
}

}  // namespace
}  // namespace gradus
