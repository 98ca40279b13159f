// The devices that CUDA reports.
#include "gradus/cuda/runtime/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>
#include <mutex>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/nonfinite.h"

namespace gradus::cuda {

namespace {

#ifdef GRADUS_SIMULATED
constexpr bool kSimulated = true;
#else
constexpr bool kSimulated = false;
#endif

struct Found {
  int count = 0;
  std::string reason;  // why count is 0
};

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string reason_for(cudaError_t status) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (status == cudaErrorInsufficientDriver && driver == 0)
    return "no CUDA driver is installed (libcuda.so.1 cannot be loaded); install NVIDIA's driver";
  if (status == cudaErrorInsufficientDriver)
    return "the CUDA driver is too old: it knows CUDA " + version(driver) +
           ", and this build needs " + version(runtime) + "; update NVIDIA's driver";
  if (kSimulated) return std::string("CUDA is simulated: ") + cudaGetErrorString(status);
  if (status == cudaErrorNoDevice || status == cudaSuccess)
    return "the CUDA driver sees no device; check nvidia-smi and the variable CUDA_VISIBLE_DEVICES";
  return std::string("CUDA cannot be used: ") + cudaGetErrorName(status) + " (" +
         cudaGetErrorString(status) + "); check nvidia-smi";
}

const Found& found() {
  static const Found& once = *new Found([] {
    Found out;
    const cudaError_t status = cudaGetDeviceCount(&out.count);
    if (status != cudaSuccess) out.count = 0;
    out.count = std::min(out.count, kMaxDevices);
    if (out.count == 0) out.reason = reason_for(status);
    cudaGetLastError();
    return out;
  }());
  return once;
}

thread_local int current = 0;

DeviceProperties read_properties(int device) {
  cudaDeviceProp p;
  check_cuda(cudaGetDeviceProperties(&p, device), "getDeviceProperties(", device, ")");
  return {.name = p.name,
          .simulated = kSimulated,
          .major = p.major,
          .minor = p.minor,
          .multiprocessors = p.multiProcessorCount,
          .warp_size = p.warpSize,
          .max_threads_per_block = p.maxThreadsPerBlock,
          .max_threads_per_multiprocessor = p.maxThreadsPerMultiProcessor,
          .registers_per_block = p.regsPerBlock,
          .total_memory = static_cast<int64_t>(p.totalGlobalMem),
          .l2_bytes = p.l2CacheSize,
          .shared_per_block = static_cast<int64_t>(p.sharedMemPerBlock),
          .shared_per_block_optin = static_cast<int64_t>(p.sharedMemPerBlockOptin),
          .shared_per_multiprocessor = static_cast<int64_t>(p.sharedMemPerMultiprocessor)};
}

}  // namespace

bool is_available() { return found().count > 0; }
const std::string& why_unavailable() { return found().reason; }
int64_t device_count() { return found().count; }

int checked_device(const char* operation, int64_t device) {
  if (device == -1) return current;
  if (device >= 0 && device < device_count()) [[likely]]
    return static_cast<int>(device);
  check<Error>(is_available(), operation, ": ", why_unavailable());
  fail(operation, ": device ", device, " does not exist; expected 0 to ", device_count() - 1,
       ", or -1 for the current one");
}

const DeviceProperties& getDeviceProperties(int device) {
  struct Entry {
    std::once_flag once;
    DeviceProperties properties;
  };
  static Entry* const entries = new Entry[static_cast<size_t>(device_count())];
  if (!is_available()) [[unlikely]]
    fail<Error>("getDeviceProperties: ", why_unavailable());
  const int index = checked_device("getDeviceProperties", device);
  Entry& entry = entries[index];
  std::call_once(entry.once, [&] { entry.properties = read_properties(index); });
  return entry.properties;
}

int current_device() { return current; }

void set_device(int device) {
  device = checked_device("set_device", device);
  if (device == current) return;
  check_cuda(cudaSetDevice(device), "set_device(", device, ")");
  current = device;
}

DeviceGuard::DeviceGuard(int device) : previous_(current) {
  cuda::set_device(checked_device("DeviceGuard", device));
}

DeviceGuard::~DeviceGuard() {
  // A destructor cannot throw; `current` says what holds, so the next call sets the device again.
  if (previous_ != current && cudaSetDevice(previous_) == cudaSuccess) current = previous_;
}

void synchronize(int64_t device_index) {
  check<Error>(is_available(), "synchronize: ", why_unavailable());
  const int device = checked_device("synchronize", device_index);
  const DeviceGuard guard(device);
  flush_nonfinite(device);
  after_wait(cudaDeviceSynchronize(), device, "synchronize");
}

}  // namespace gradus::cuda
