// CUDA devices: their number, their properties, the guard, and a machine without one.
#include "gradus/cuda/runtime/device.h"

#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/gradus.h"
#include "gradus/tensor/backend.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

using DeviceTest = GpuTest;

TEST(Device, SaysWhetherThereIsOneAndWhyNot) {
  EXPECT_EQ(cuda::is_available(), cuda::device_count() > 0);
  EXPECT_EQ(cuda::is_available(), cuda::why_unavailable().empty());
}

// A build that lacks them is right, and half as fast.
TEST_F(DeviceTest, AGpuOfCapability90HasTheKernelsOfHopper) {
  const cuda::DeviceProperties& device = cuda::getDeviceProperties(0);
  if (device.simulated || device.major != 9 || device.minor != 0)
    GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  EXPECT_TRUE(cuda::has_wgmma()) << "configure with -DCMAKE_CUDA_ARCHITECTURES=90";
}

TEST(Device, ABuildWithoutTheKernelsOfHopperSaysHowToGetThem) {
  cuda::DeviceProperties device{};
  device.name = "NVIDIA H100", device.major = 9;
  const std::string warning = cuda::warning_without_wgmma(device);
  EXPECT_CONTAINS(warning, "\"NVIDIA H100\"");
  EXPECT_CONTAINS(warning, "-DCMAKE_CUDA_ARCHITECTURES=90");
  device.simulated = true;
  EXPECT_EQ(cuda::warning_without_wgmma(device), "");
  device.simulated = false;
  for (const auto& [major, minor] : {std::pair(8, 9), {10, 0}, {12, 0}}) {
    device.major = major, device.minor = minor;
    EXPECT_EQ(cuda::warning_without_wgmma(device), "") << major << '.' << minor;
  }
  const std::string yes = cuda::built_with_wgmma() ? "yes" : "no";
  EXPECT_CONTAINS(show_config(), ", Hopper kernels " + yes + "\n");
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
  EXPECT_CONTAINS(message_of<Error>([] { cuda::detail::createCUDAGenerator(0); }), why);
  const std::string loader = message_of<Error>([] {
    data::DataLoader(data::TensorDataset(ones({2})), data::DataLoaderOptions(1).device(kCUDA));
  });
  EXPECT_CONTAINS(loader, "DataLoader: device is cuda, and " + why);
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

// Each names what the user called, or the device itself, and those that there are.
TEST_F(DeviceTest, EveryUseOfADeviceThatDoesNotExistSaysSo) {
  const auto index = static_cast<DeviceIndex>(cuda::device_count());
  const Device absent(kCUDA, index);
  const Tensor here = ones({2, 2}), there = here.to(kCUDA);
  std::stringstream file;
  save(here, file);
  const nn::Linear model(2, 2);
  const std::string device = "Device: " + absent.str() + " does not exist; this machine has ";
  const auto number = [&](const std::string& name) {
    return name + ": device " + std::to_string(index) + " does not exist; expected 0 to ";
  };
  struct Use {
    std::string words;
    std::function<void()> call;
  };
  const std::vector<Use> uses = {
      {device, [&] { here.to(absent); }},
      {device, [&] { there.to(absent); }},
      {device, [&] { here.to(absent.str()); }},
      {device, [&] { here.to(TensorOptions(absent), /*non_blocking=*/true); }},
      {device, [&] { empty({2}, absent); }},
      {device, [&] { randn({2}, absent); }},
      {device, [&] { tensor({1.f}, absent); }},
      {device, [&] { full_like(here, 1, absent); }},
      {device, [&] { from_blob(there.data_ptr(), {4}, absent); }},
      {device, [&] { here.new_zeros({2}, absent); }},
      {device, [&] { empty({2}, TensorOptions(absent).pinned_memory(true)); }},
      {device, [&] { model->to(absent); }},
      {device, [&] { model->cuda(index); }},
      {device, [&] { model->clone(absent); }},
      {device, [&] { nn::DataParallel(model, {index}); }},
      {device,
       [&] {
         nn::DataParallel(model, {0, index});
       }},
      {device, [&] { nn::DataParallel(model, {0}, absent); }},
      {device,
       [&] {
         nn::parallel::scatter(there, {Device(kCUDA, 0), absent});
       }},
      {device,
       [&] {
         nn::parallel::gather({there, there}, absent);
       }},
      {device,
       [&] {
         Tensor read;
         load(read, file, absent);
       }},
      {"DataLoader: device is " + absent.str() + ", which does not exist; give one from cuda:0 to ",
       [&] {
         data::DataLoader(data::TensorDataset(here), data::DataLoaderOptions(1).device(absent));
       }},
      {number("DeviceGuard"), [&] { cuda::DeviceGuard guard(absent); }},
      {number("set_device"), [&] { cuda::set_device(index); }},
      {number("synchronize"), [&] { cuda::synchronize(index); }},
      {number("getStreamFromPool"), [&] { cuda::getStreamFromPool(false, index); }},
      {number("getCurrentCUDAStream"), [&] { cuda::getCurrentCUDAStream(index); }},
      {number("getDefaultCUDAStream"), [&] { cuda::getDefaultCUDAStream(index); }},
      {number("getDeviceProperties"), [&] { cuda::getDeviceProperties(index); }},
      {number("device_status"), [&] { cuda::device_status(index); }},
      {number("memory_stats"), [&] { cuda::memory_stats(index); }},
      {number("set_per_process_memory_fraction"),
       [&] { cuda::set_per_process_memory_fraction(0.5, index); }},
      {number("enable_peer_access"), [&] { cuda::enable_peer_access(0, index); }},
      {number("createCUDAGenerator"), [&] { cuda::detail::createCUDAGenerator(index); }},
      {number("getDefaultCUDAGenerator"), [&] { cuda::detail::getDefaultCUDAGenerator(index); }},
  };
  for (const Use& use : uses) {
    SCOPED_TRACE(use.words);
    const std::string said = [&]() -> std::string {
      try {
        use.call();
      } catch (const Error& error) {
        return error.what();
      }
      return "no error";
    }();
    EXPECT_EQ(said.substr(0, use.words.size()), use.words) << said;
  }
}

TEST_F(DeviceTest, ALoaderCopiesToNoMetaDevice) {
  EXPECT_CONTAINS(message_of<ValueError>([] {
                    data::DataLoader(data::TensorDataset(ones({2})),
                                     data::DataLoaderOptions(1).device(kMeta));
                  }),
                  "DataLoader: device is meta, expected cpu or one of CUDA");
}

TEST_F(DeviceTest, ResolveFillsInTheCurrentDevice) {
  const int last = static_cast<int>(cuda::device_count()) - 1;
  const cuda::DeviceGuard guard(last);
  EXPECT_EQ(cuda_backend().resolve(kCUDA), Device(kCUDA, static_cast<DeviceIndex>(last)));
  EXPECT_EQ(cuda_backend().resolve("cuda:0"), Device("cuda:0"));
}

}  // namespace
}  // namespace gradus
