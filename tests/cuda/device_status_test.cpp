// device_status: what NVML's answers become, by functions of the test, and a machine without it.
#include "gradus/cuda/device_status.h"

#include "gradus/cuda/nvml.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

using cuda::DeviceStatus, cuda::Nvml;
using DeviceStatusTest = GpuTest;

constexpr int kNotSupported = 3, kLost = 15;

Nvml answering() {
  Nvml out{};
  out.error = [](int status) { return status == kLost ? "GPU is lost" : "other"; };
  out.by_bus_id = [](const char* id, Nvml::Device* device) {
    *device = nullptr;
    return std::string(id) == "0000:3B:00.0" ? 0 : kLost;
  };
  out.utilization = [](Nvml::Device, Nvml::Utilization* percent) {
    *percent = {87, 40};
    return 0;
  };
  out.memory = [](Nvml::Device, Nvml::Memory* bytes) {
    *bytes = {85'899'345'920, 73'599'345'920, 12'300'000'000};
    return 0;
  };
  out.power = [](Nvml::Device, unsigned* milliwatts) {
    *milliwatts = 312'400;
    return 0;
  };
  out.power_limit = [](Nvml::Device, unsigned* milliwatts) {
    *milliwatts = 700'000;
    return 0;
  };
  out.temperature = [](Nvml::Device, int sensor, unsigned* degrees) {
    *degrees = sensor == 0 ? 61 : 0;
    return 0;
  };
  return out;
}

TEST(Nvml, TellsTheState) {
  const DeviceStatus status = answering().status("0000:3B:00.0");
  EXPECT_EQ(status.utilization, 87);
  EXPECT_EQ(status.free_memory, 73'599'345'920);
  EXPECT_EQ(status.total_memory, 85'899'345'920);
  EXPECT_EQ(status.power, 312.4);
  EXPECT_EQ(status.power_limit, 700);
  EXPECT_EQ(status.temperature, 61);
  EXPECT_EQ(status.str(), "87%, 12.3/85.9 GB, 312 W, 61 C");
}

TEST(Nvml, MayNotKnowAllOfIt) {
  Nvml nvml = answering();
  nvml.utilization = [](Nvml::Device, Nvml::Utilization*) { return kNotSupported; };
  nvml.power = nvml.power_limit = [](Nvml::Device, unsigned*) { return kNotSupported; };
  const DeviceStatus status = nvml.status("0000:3B:00.0");
  EXPECT_FALSE(status.utilization || status.power || status.power_limit);
  EXPECT_EQ(status.str(), "12.3/85.9 GB, 61 C");
}

TEST(Nvml, SaysWhatIsRefused) {
  Nvml nvml = answering();
  EXPECT_EQ(message_of<Error>([&] { nvml.status("0000:00:00.0"); }),
            "device_status: NVML refuses a device: GPU is lost; look whether nvidia-smi works");
  nvml.temperature = [](Nvml::Device, int, unsigned*) { return kLost; };
  EXPECT_CONTAINS(message_of<Error>([&] { nvml.status("0000:3B:00.0"); }),
                  "NVML refuses the temperature: GPU is lost");
  EXPECT_EQ(message_of<Error>([] { Nvml::load({"libno-such-nvml.so.1"}); }),
            "device_status: the state of a GPU is told by libno-such-nvml.so.1, which cannot be "
            "loaded; install NVIDIA's driver with its NVML library, or set LD_LIBRARY_PATH to its "
            "folder");
  EXPECT_CONTAINS(message_of<Error>([] { Nvml::load({"libc.so.6"}); }),
                  "the state of a GPU is told by nvmlInit_v2, which libc.so.6 lacks");
}

TEST_F(DeviceStatusTest, IsThatOfTheDevice) {
  const DeviceStatus status = cuda::device_status();
  EXPECT_EQ(status.device, cuda::current_device());
  EXPECT_EQ(status.name, cuda::getDeviceProperties(status.device).name);
  EXPECT_EQ(status.simulated, kSimulated);
  EXPECT_GT(status.total_memory, 0);
  EXPECT_LE(status.free_memory, status.total_memory);
  EXPECT_EQ(status.str().starts_with("simulated, "), kSimulated);
  EXPECT_TRUE(kSimulated || status.temperature.has_value());
  EXPECT_CONTAINS(message_of<ValueError>([] { cuda::device_status(1000); }),
                  "device_status: device 1000 does not exist");
}

TEST(DeviceStatus, WithoutADeviceSaysWhy) {
  if (cuda::is_available()) GTEST_SKIP() << "there is a device";
  EXPECT_CONTAINS(message_of<Error>([] { cuda::device_status(); }), cuda::why_unavailable());
}

}  // namespace
}  // namespace gradus
