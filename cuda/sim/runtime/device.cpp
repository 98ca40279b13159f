// Devices and errors.

#include "gradus/cuda/sim/runtime/device.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "gradus/cuda/sim/check/findings.h"
#include "gradus/cuda/sim/exec/of_thread.h"
#include "gradus/cuda/sim/runtime/memory.h"
#include "gradus/cuda/sim/runtime/queue.h"
#include "gradus/cuda/sim/runtime/streams.h"

namespace gradus::cuda::sim {

namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;
constinit std::atomic<bool> peers[kMostDevices][kMostDevices]{};

struct Devices {
  int count = 4;
  std::string complaint;  // about a variable of the environment: then there are none
};
Devices read_devices() {
  for (const char* name : {"GRADUS_SIM_CHECK", "GRADUS_SIM_REPORT"}) {
    const char* const text = std::getenv(name);
    if (text && std::strcmp(text, "0") != 0 && std::strcmp(text, "1") != 0)
      return {0, std::string(name) + " is '" + text + "', expected 0 or 1"};
  }
  char* end = nullptr;
  if (const char* const text = std::getenv("GRADUS_SIM_PATIENCE"))
    if (const double seconds = std::strtod(text, &end); end == text || *end || !(seconds >= 0))
      return {0, "GRADUS_SIM_PATIENCE is '" + std::string(text) + "', expected seconds, 0 or more"};
  if (const char* const text = std::getenv("GRADUS_SIM_CORES"))
    if (const long cores = std::strtol(text, &end, 10); end == text || *end || cores < 1)
      return {0, "GRADUS_SIM_CORES is '" + std::string(text) + "', expected a number from 1"};
  if (const char* const text = std::getenv("GRADUS_SIM_ORDER"))
    if (std::strtoull(text, &end, 10); end == text || *end)
      return {0, "GRADUS_SIM_ORDER is '" + std::string(text) + "', expected a number, the seed"};
  const char* const text = std::getenv("GRADUS_SIM_DEVICES");
  if (!text) return {};
  const long wanted = std::strtol(text, &end, 10);
  if (end == text || *end || wanted < 0 || wanted > kMostDevices)
    return {0, "GRADUS_SIM_DEVICES is '" + std::string(text) + "', expected a number from 0 to " +
                   std::to_string(kMostDevices)};
  return {static_cast<int>(wanted), ""};
}
const Devices& devices() {
  static const auto& once = *new Devices(read_devices());
  return once;
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
    GRADUS_SIM_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    GRADUS_SIM_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    GRADUS_SIM_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    GRADUS_SIM_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    GRADUS_SIM_ERROR(cudaErrorNoDevice, "no device: GRADUS_SIM_DEVICES is 0"),
    GRADUS_SIM_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    GRADUS_SIM_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    GRADUS_SIM_ERROR(cudaErrorNotReady, "device not ready"),
    GRADUS_SIM_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    GRADUS_SIM_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    GRADUS_SIM_ERROR(cudaErrorAssert, "an assertion does not hold in a kernel"),
    GRADUS_SIM_ERROR(cudaErrorLaunchFailure, "the simulator found a mistake in a kernel"),
    GRADUS_SIM_ERROR(cudaErrorNotSupported, "the simulator does not support this"),
    GRADUS_SIM_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    GRADUS_SIM_ERROR(cudaErrorStreamCaptureUnsupported,
                     "operation not permitted when stream is capturing"),
    GRADUS_SIM_ERROR(cudaErrorStreamCaptureInvalidated,
                     "operation failed due to a previous error during capture"),
    GRADUS_SIM_ERROR(cudaErrorStreamCaptureMerge,
                     "operation would result in a merge of separate capture sequences"),
    GRADUS_SIM_ERROR(cudaErrorStreamCaptureUnmatched,
                     "capture was not ended in the same stream as it began"),
    GRADUS_SIM_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    GRADUS_SIM_ERROR(cudaErrorStreamCaptureIsolation,
                     "dependency created on uncaptured work in another stream"),
    GRADUS_SIM_ERROR(
        cudaErrorStreamCaptureImplicit,
        "operation would make the legacy stream depend on a capturing blocking stream"),
    GRADUS_SIM_ERROR(cudaErrorCapturedEvent,
                     "operation not permitted on an event last recorded in a capturing stream"),
    GRADUS_SIM_ERROR(cudaErrorStreamCaptureWrongThread,
                     "attempt to terminate a thread-local capture sequence from another thread"),
#undef GRADUS_SIM_ERROR
};
const ErrorText& text_of(cudaError_t status) {
  for (const ErrorText& each : kErrors)
    if (each.status == status) return each;
  static constexpr ErrorText unknown = {cudaErrorInvalidValue, "unrecognized error code",
                                        "unrecognized error code"};
  return unknown;
}

template <class T>
cudaError_t give(T* out, const std::type_identity_t<T>& value) {
  if (!out) return result(cudaErrorInvalidValue);
  *out = value;
  return result(cudaSuccess);
}

}  // namespace

cudaError_t result(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

bool is_device(int device) { return device >= 0 && device < devices().count; }
int current_zone() { return current_device; }

cudaError_t without_devices() {
  if (!devices().complaint.empty()) return cudaErrorInvalidDevice;
  return devices().count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

bool may_access(int device, int peer) {
  return device == peer || peer >= kHostZone || peers[device][peer].load();
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
  if (error == cudaSuccess || error == without_devices() || error != pending_error())
    return text_of(error).text;
  auto& full = of_thread<std::string>();
  full = text_of(error).text + ("\n" + tell_findings());
  return full.c_str();
}

// --- Devices
cudaError_t cudaDriverGetVersion(int* version) { return give(version, 13000); }
cudaError_t cudaRuntimeGetVersion(int* version) { return give(version, 13000); }
cudaError_t cudaGetDeviceCount(int* count) {
  const cudaError_t status = give(count, devices().count);
  return status == cudaSuccess ? result(without_devices()) : status;
}
cudaError_t cudaGetDevice(int* device) { return give(device, current_device); }
cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return result(cudaErrorInvalidDevice);
  current_device = device;
  return result(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  if (!is_device(device)) return result(cudaErrorInvalidDevice);
  // The limits of compute capability 9.0, with few multiprocessors: kernels that fill a device
  // then fill this one with little work.
  return give(out, {.name = "Simulated CUDA device",
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
                    .sharedMemPerMultiprocessor = 228 << 10});
}

cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t forbidden = refuse_in_capture()) return result(forbidden);
  finish_all();
  return result(pending_error());
}
cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return result(cudaErrorInvalidDevice);
  return give(possible, static_cast<int>(device != peer));
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (!is_device(peer) || peer == current_device) return result(cudaErrorInvalidDevice);
  if (flags != 0) return result(cudaErrorInvalidValue);
  const bool before = peers[current_device][peer].exchange(true);
  return result(before ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  if (lowest) *lowest = 0;
  if (highest) *highest = -5;
  return result(pending_error());
}
