// Devices, errors, streams and events.

#include "gradus/cuda/sim/device.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "gradus/cuda/sim/findings.h"
#include "gradus/cuda/sim/memory.h"

struct CUstream_st {
  int device;
};
struct CUevent_st {
  int device;
  bool timed, recorded = false;
  std::chrono::steady_clock::time_point when{};
};

namespace gradus::cuda::sim {

namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;
constinit std::atomic<bool> peers[kMostDevices][kMostDevices]{};

struct Devices {
  int count = 4;
  std::string complaint;  // about GRADUS_SIM_DEVICES
};
const Devices& devices() {
  static const auto& once = *new Devices([] {
    Devices out;
    const char* const text = std::getenv("GRADUS_SIM_DEVICES");
    if (!text) return out;
    char* end = nullptr;
    const long wanted = std::strtol(text, &end, 10);
    if (end == text || *end || wanted < 0 || wanted > kMostDevices) {
      out.count = 0;
      out.complaint = "GRADUS_SIM_DEVICES is '" + std::string(text) +
                      "', expected a number from 0 to " + std::to_string(kMostDevices);
    } else {
      out.count = static_cast<int>(wanted);
    }
    return out;
  }());
  return once;
}

std::mutex handles_mutex;
std::set<cudaStream_t>& streams() {
  static auto& all = *new std::set<cudaStream_t>;
  return all;
}

struct ErrorText {
  cudaError_t status;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
#define GRADUS_SIM_ERROR(name, text) \
  { name, #name, text }
    GRADUS_SIM_ERROR(cudaSuccess, "no error"),
    GRADUS_SIM_ERROR(cudaErrorInvalidValue, "invalid argument"),
    GRADUS_SIM_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    GRADUS_SIM_ERROR(cudaErrorInitializationError,
                     "the simulator cannot reserve its range of addresses; check ulimit -v and "
                     "vm.overcommit_memory"),
    GRADUS_SIM_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    GRADUS_SIM_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    GRADUS_SIM_ERROR(cudaErrorNoDevice, "no device: GRADUS_SIM_DEVICES is 0"),
    GRADUS_SIM_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    GRADUS_SIM_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    GRADUS_SIM_ERROR(cudaErrorNotReady, "device not ready"),
    GRADUS_SIM_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    GRADUS_SIM_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    GRADUS_SIM_ERROR(cudaErrorLaunchFailure, "the simulator found a mistake in a kernel"),
    GRADUS_SIM_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
#undef GRADUS_SIM_ERROR
};
const ErrorText& text_of(cudaError_t status) {
  for (const ErrorText& each : kErrors)
    if (each.status == status) return each;
  static constexpr ErrorText unknown = {cudaErrorInvalidValue, "cudaErrorUnknown", "unknown error"};
  return unknown;
}

template <class Handle, class... Args>
cudaError_t make(Handle* out, Args... args) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!out) return result(cudaErrorInvalidValue);
  *out = new std::remove_pointer_t<Handle>{args...};
  return result(cudaSuccess);
}

}  // namespace

cudaError_t result(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

bool is_device(int device) { return device >= 0 && device < devices().count; }
int current_zone() { return current_device; }

bool is_stream(cudaStream_t stream) {
  if (!stream) return true;
  const std::lock_guard lock(handles_mutex);
  return streams().contains(stream) && stream->device == current_device;
}

bool may_access(int device, int peer) {
  return device == peer || peer == kHostZone || peers[device][peer].load();
}

}  // namespace gradus::cuda::sim

using namespace gradus::cuda::sim;

// --- Errors
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorInvalidDevice && !devices().complaint.empty())
    return devices().complaint.c_str();
  if (error == cudaSuccess || error != pending_error()) return text_of(error).text;
  thread_local std::string full;
  full = text_of(error).text + ("\n" + findings_text());
  return full.c_str();
}

// --- Devices
cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, result(cudaSuccess); }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13000, result(cudaSuccess); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = devices().count;
  if (!devices().complaint.empty()) return result(cudaErrorInvalidDevice);
  return result(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}
cudaError_t cudaGetDevice(int* device) { return *device = current_device, result(cudaSuccess); }
cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return result(cudaErrorInvalidDevice);
  current_device = device;
  return result(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  if (!is_device(device)) return result(cudaErrorInvalidDevice);
  // The limits of compute capability 9.0, with few multiprocessors: kernels that fill a device
  // then fill this one with little work.
  *out = {.name = "Simulated CUDA device",
          .major = 9,
          .minor = 0,
          .multiProcessorCount = 8,
          .warpSize = 32,
          .maxThreadsPerBlock = 1024,
          .maxThreadsPerMultiProcessor = 2048,
          .regsPerBlock = 65536,
          .totalGlobalMem = kDeviceBytes,
          .l2CacheSize = 4 << 20,
          .sharedMemPerBlock = 48 << 10,
          .sharedMemPerBlockOptin = 227 << 10,
          .sharedMemPerMultiprocessor = 228 << 10};
  return result(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() { return result(pending_error()); }
cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return result(cudaErrorInvalidDevice);
  *possible = device != peer;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  if (!is_device(peer) || peer == current_device) return result(cudaErrorInvalidDevice);
  const bool before = peers[current_device][peer].exchange(true);
  return result(before ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0, *highest = -5;
  return result(pending_error());
}

// --- Streams
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  const cudaError_t status = make(stream, current_device);
  if (status != cudaSuccess) return status;
  const std::lock_guard lock(handles_mutex);
  streams().insert(*stream);
  return status;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(handles_mutex);
  if (streams().erase(stream) == 0) return result(cudaErrorInvalidResourceHandle);
  delete stream;
  return result(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  return result(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!event) return result(cudaErrorInvalidResourceHandle);
  return cudaStreamSynchronize(stream);
}

// --- Events
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return make(event, current_device, (flags & cudaEventDisableTiming) == 0);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return result(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!event || !is_stream(stream) || event->device != current_device)
    return result(cudaErrorInvalidResourceHandle);
  event->recorded = true;
  event->when = std::chrono::steady_clock::now();
  return result(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  return result(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!start || !end || !start->timed || !end->timed || !start->recorded || !end->recorded)
    return result(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - start->when).count();
  return result(cudaSuccess);
}
