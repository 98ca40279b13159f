// The state of a GPU at the moment: use, memory, power and temperature.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace gradus::cuda {

// The state of the whole device. All programs that use it count together.
struct DeviceStatus {
  int device = 0;
  std::string name;
  bool simulated = false;                     // on the CPU: it has no use, power and temperature
  int64_t free_memory = 0, total_memory = 0;  // bytes
  // Nothing where the device does not tell.
  std::optional<int> utilization;            // percent of the last moments in which a kernel ran
  std::optional<double> power, power_limit;  // watts
  std::optional<int> temperature;            // degrees Celsius

  // "87%, 12.3/85.9 GB, 312 W, 61 C": use, memory in use, power, temperature; "simulated, ..." of a
  // simulated device.
  std::string str() const {
    const auto number = [](const char* pattern, double value) {
      char text[64];
      std::snprintf(text, sizeof(text), pattern, value);
      return std::string(text);
    };
    constexpr double kGigabyte = 1e9;
    std::string out = simulated     ? "simulated, "
                      : utilization ? std::to_string(*utilization) + "%, "
                                    : "";
    out += number("%.1f/", static_cast<double>(total_memory - free_memory) / kGigabyte) +
           number("%.1f GB", static_cast<double>(total_memory) / kGigabyte);
    if (power) out += number(", %.0f W", *power);
    if (temperature) out += ", " + std::to_string(*temperature) + " C";
    return out;
  }
};

// Asked of NVML, NVIDIA's library beside the driver, which is loaded at the first call. A simulated
// device says that it is one. -1: of the current device.
// Errors: ValueError where there is no such device; Error where NVML cannot be loaded or refuses.
DeviceStatus device_status(int device = -1);

}  // namespace gradus::cuda
