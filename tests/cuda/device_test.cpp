// CUDA devices: their number, their properties, the guard, and a machine without one.
#include "gradus/cuda/runtime/device.h"

#include <thread>

#include "gradus/tensor/backend.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

using DeviceTest = GpuTest;

TEST(Device, SaysWhetherThereIsOneAndWhyNot) {
  EXPECT_EQ(cuda::is_available(), cuda::device_count() > 0);
  EXPECT_EQ(cuda::is_available(), cuda::why_unavailable().empty());
}

TEST(Device, EveryUseWithoutADeviceSaysWhyThereIsNone) {
  if (cuda::is_available()) GTEST_SKIP() << "there is a device";
  const std::string& why = cuda::why_unavailable();
  EXPECT_CONTAINS(message_of<Error>([] { cuda::synchronize(); }), why);
  EXPECT_CONTAINS(message_of<Error>([] { cuda::set_device(0); }), why);
  EXPECT_CONTAINS(message_of<Error>([] { cuda::DeviceGuard guard(1); }), why);
  EXPECT_CONTAINS(message_of<Error>([] { cuda::getDeviceProperties(0); }), why);
  EXPECT_CONTAINS(message_of<Error>([] { cuda::getStreamFromPool(); }), why);
  EXPECT_CONTAINS(message_of<Error>([] { cuda::getCurrentCUDAStream(0); }), why);
  EXPECT_CONTAINS(message_of<Error>([] { cuda::memory_stats(); }), why);
  EXPECT_CONTAINS(message_of<Error>([] { cuda_backend(); }), why);
  EXPECT_CONTAINS(message_of<Error>([] { cuda::enable_peer_access(0, 1); }), why);
  EXPECT_NO_THROW(cuda::empty_cache());
}

TEST_F(DeviceTest, HasPlausibleProperties) {
  for (int device = 0; device < cuda::device_count(); ++device) {
    const cuda::DeviceProperties& p = cuda::getDeviceProperties(device);
    EXPECT_FALSE(p.name.empty());
    EXPECT_GE(p.major, 5);
    EXPECT_GT(p.multiprocessors, 0);
    EXPECT_EQ(p.warp_size, 32);
    EXPECT_EQ(p.max_threads_per_block, 1024);
    EXPECT_GT(p.total_memory, int64_t{1} << 28);
    EXPECT_GT(p.l2_bytes, 0);
    EXPECT_GE(p.shared_per_block_optin, p.shared_per_block);
    EXPECT_EQ(&p, &cuda::getDeviceProperties(device)) << "read once";
  }
}

TEST_F(DeviceTest, GuardComesBack) {
  const int before = cuda::current_device();
  const int last = static_cast<int>(cuda::device_count()) - 1;
  {
    const cuda::DeviceGuard guard(last);
    EXPECT_EQ(cuda::current_device(), last);
    const cuda::DeviceGuard same(-1);
    EXPECT_EQ(cuda::current_device(), last);
    std::thread([] { EXPECT_EQ(cuda::current_device(), 0); }).join();
  }
  EXPECT_EQ(cuda::current_device(), before);
}

TEST_F(DeviceTest, NamesADeviceThatDoesNotExist) {
  const int count = static_cast<int>(cuda::device_count());
  const int before = cuda::current_device();
  const std::string text = message_of<ValueError>([&] { cuda::set_device(count); });
  EXPECT_CONTAINS(text, "set_device: device " + std::to_string(count) + " does not exist");
  EXPECT_CONTAINS(text, "0 to " + std::to_string(count - 1));
  message_of<ValueError>([] { cuda::DeviceGuard guard(-2); });
  message_of<ValueError>([&] { cuda::getDeviceProperties(count); });
  message_of<ValueError>([&] { cuda::synchronize(count); });
  EXPECT_EQ(cuda::current_device(), before);

  const Device absent(kCUDA, static_cast<DeviceIndex>(count));
  EXPECT_CONTAINS(message_of<Error>([&] { cuda_backend().resolve(absent); }),
                  absent.str() + " does not exist; this machine has " + std::to_string(count));
}

TEST_F(DeviceTest, ResolveFillsInTheCurrentDevice) {
  const int last = static_cast<int>(cuda::device_count()) - 1;
  const cuda::DeviceGuard guard(last);
  EXPECT_EQ(cuda_backend().resolve(kCUDA), Device(kCUDA, static_cast<DeviceIndex>(last)));
  EXPECT_EQ(cuda_backend().resolve("cuda:0"), Device("cuda:0"));
}

}  // namespace
}  // namespace gradus
