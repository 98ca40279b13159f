// Which devices an example runs on.
#pragma once

#include <gradus/gradus.h>

#include <string>
#include <vector>

using Devices = std::vector<gradus::Device>;

// Those named, such as "cuda:0" or "cpu", in their order; else all GPUs; and where there is none as
// many replicas of the CPU, and a remark that says so. Errors: Error for a device that is none.
inline Devices choose_devices(const std::vector<std::string>& names, int replicas,
                              std::string& remark) {
  if (!names.empty()) {
    Devices out;
    for (const std::string& name : names) out.emplace_back(name);
    // So that a device that does not exist is refused here, and "cuda" gets its number.
    return gradus::nn::parallel::DeviceIds(out).resolved();
  }
  if (gradus::cuda::is_available() && !gradus::cuda::getDeviceProperties(0).simulated)
    return gradus::nn::parallel::DeviceIds().resolved();
  remark =
      "No GPU (" +
      (gradus::cuda::is_available() ? "the devices are simulated; --devices cuda:0 cuda:1 uses them"
                                    : gradus::cuda::why_unavailable()) +
      "), so the replicas run on the CPU and share its cores: expect no speed-up.";
  return Devices(static_cast<size_t>(replicas), gradus::Device(gradus::kCPU));
}

inline std::string joined(const Devices& devices) {
  std::string text;
  for (const gradus::Device device : devices) text += (text.empty() ? "" : " ") + device.str();
  return text;
}

// 1, 2, 4, ... and all of them.
inline std::vector<size_t> counts_up_to(size_t all) {
  std::vector<size_t> out;
  for (size_t n = 1; n < all; n *= 2) out.push_back(n);
  out.push_back(all);
  return out;
}
