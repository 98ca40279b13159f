// NVML: loaded when needed, and asked.
#include "gradus/cuda/nvml.h"

#include "gradus/cuda/rtc/loaded_library.h"

namespace gradus::cuda {

namespace {

constexpr int kNotSupported = 3;  // NVML_ERROR_NOT_SUPPORTED
constexpr int kGpuSensor = 0;     // NVML_TEMPERATURE_GPU

void check_nvml(const Nvml& nvml, int status, const char* what) {
  check<Error>(status == 0, "device_status: NVML refuses ", what, ": ", nvml.error(status),
               "; look whether nvidia-smi works");
}

// Whether the device told.
bool told(const Nvml& nvml, int status, const char* what) {
  if (status == kNotSupported) return false;
  check_nvml(nvml, status, what);
  return true;
}

}  // namespace

Nvml Nvml::load(std::initializer_list<const char*> files) {
  const rtc::LoadedLibrary library(files, "device_status: the state of a GPU is told by",
                                   "; install NVIDIA's driver with its NVML library, or set "
                                   "LD_LIBRARY_PATH to its folder");
  Nvml out{};
  library.load(out.init, "nvmlInit_v2");
  library.load(out.error, "nvmlErrorString");
  library.load(out.by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  library.load(out.utilization, "nvmlDeviceGetUtilizationRates");
  library.load(out.memory, "nvmlDeviceGetMemoryInfo");
  library.load(out.power, "nvmlDeviceGetPowerUsage");
  library.load(out.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  library.load(out.temperature, "nvmlDeviceGetTemperature");
  check_nvml(out, out.init(), "to start");
  return out;
}

DeviceStatus Nvml::status(const char* bus_id) const {
  Device device = nullptr;
  check_nvml(*this, by_bus_id(bus_id, &device), "a device");
  Memory bytes{};
  check_nvml(*this, memory(device, &bytes), "the memory");
  DeviceStatus out;
  out.free_memory = static_cast<int64_t>(bytes.free);
  out.total_memory = static_cast<int64_t>(bytes.total);
  Utilization percent{};
  if (told(*this, utilization(device, &percent), "the use"))
    out.utilization = static_cast<int>(percent.gpu);
  constexpr double kThousand = 1000;
  unsigned number = 0;
  if (told(*this, power(device, &number), "the power")) out.power = number / kThousand;
  if (told(*this, power_limit(device, &number), "the limit of power"))
    out.power_limit = number / kThousand;
  if (told(*this, temperature(device, kGpuSensor, &number), "the temperature"))
    out.temperature = static_cast<int>(number);
  return out;
}

}  // namespace gradus::cuda
