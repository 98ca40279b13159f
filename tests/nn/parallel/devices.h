// The lists of devices that a test of DataParallel runs on, and small helpers.
#pragma once

#include "tests/support.h"

namespace gradus {

using Devices = std::vector<Device>;

inline std::string name_of(const Devices& devices) {
  std::string text;
  for (const Device d : devices) text += d.str() + " ";
  return text;
}

// CPU replicas of every number from 1 to 8; where there are GPUs, real or simulated, also those:
// one of them several times, all of them, and some together with the CPU.
inline std::vector<Devices> device_lists() {
  std::vector<Devices> lists;
  for (size_t n = 1; n <= 8; ++n) lists.emplace_back(n, Device(kCPU));
  const auto gpus = static_cast<int8_t>(cuda::device_count());
  if (gpus == 0) return lists;
  const Device first(kCUDA, 0);
  lists.push_back({first});
  lists.push_back({first, first, first});
  lists.push_back({first, kCPU});
  lists.push_back({kCPU, first, kCPU});
  Devices all;
  for (int8_t i = 0; i < std::min<int8_t>(gpus, 8); ++i) all.emplace_back(kCUDA, i);
  if (gpus > 1) {
    lists.push_back(all);
    lists.push_back({all[1], all[0], all[1]});
  }
  return lists;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.detach().cpu().contiguous(), y = b.detach().cpu().contiguous();
  return x.numel() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

}  // namespace gradus
