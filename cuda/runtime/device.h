// CUDA devices: how many, what they are, which one is current.
#pragma once

#include <cstdint>
#include <string>

#include "gradus/tensor/base/device.h"
#include "gradus/tensor/base/error.h"

namespace gradus::cuda {

struct DeviceProperties {
  std::string name;
  bool simulated;    // on the CPU (docs/simulator.md): right, and slow
  int major, minor;  // compute capability
  int multiprocessors;
  int warp_size;
  int max_threads_per_block;
  int max_threads_per_multiprocessor;
  int registers_per_block;
  int64_t total_memory;  // bytes, as all below
  int64_t l2_bytes;
  int64_t shared_per_block;
  int64_t shared_per_block_optin;
  int64_t shared_per_multiprocessor;
};

// Whether there is a device to compute on. Never throws.
bool is_available();
// Why there is none, as a sentence with a fix; empty where is_available().
const std::string& why_unavailable();
// 0 where there is none. Read once.
int64_t device_count();

// Read once for each device. Errors: ValueError where there is no such device.
const DeviceProperties& getDeviceProperties(int device);

// The current device belongs to the thread, and is 0 at its start. This library remembers it, so
// change it through set_device and DeviceGuard, not through cudaSetDevice.
int current_device();
// -1 leaves it. Errors: ValueError where there is no such device.
void set_device(int device);

// Makes `device` current until the end of the scope; -1 leaves the current one.
class DeviceGuard {
 public:
  // Errors: ValueError where there is no such device.
  explicit DeviceGuard(int device);
  // Errors: also ValueError where it is no CUDA device.
  explicit DeviceGuard(Device device) : DeviceGuard(index_of(device)) {}
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  // Makes another device current, until the end of the same scope.
  void set_index(int device) { cuda::set_device(device); }
  void set_device(Device device) { set_index(index_of(device)); }
  Device original_device() const { return index_device(previous_); }
  Device current_device() const { return index_device(cuda::current_device()); }

 private:
  static int index_of(Device device) {
    check(device.is_cuda(), "CUDAGuard: the device is ", device, ", expected one of CUDA");
    return device.index();
  }
  static Device index_device(int index) { return Device(kCUDA, static_cast<DeviceIndex>(index)); }

  int previous_;
};
using CUDAGuard = DeviceGuard;

// Waits for all work of a device (-1: the current one).
// Errors: Error where a kernel failed, IndexError where one met an index out of range.
void synchronize(int64_t device_index = -1);

}  // namespace gradus::cuda
