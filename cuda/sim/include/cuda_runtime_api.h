// The part of the CUDA runtime that gradus uses, as the simulator implements it. Names, values and
// meaning are CUDA's; whatever is missing here is missing there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <host_defines.h>
#include <vector_types.h>

#define CUDART_VERSION 13000

// Values as in CUDA 13.
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorCudartUnloading = 4,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorECCUncorrectable = 214,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorAssert = 710,
  cudaErrorTooManyPeers = 711,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorSystemNotReady = 802,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureMerge = 902,
  cudaErrorStreamCaptureUnmatched = 903,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorStreamCaptureImplicit = 906,
  cudaErrorCapturedEvent = 907,
  cudaErrorStreamCaptureWrongThread = 908,
};

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;

struct cudaDeviceProp {
  char name[256];
  int major, minor;
  int multiProcessorCount;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsPerMultiProcessor;
  int regsPerBlock;
  size_t totalGlobalMem;
  int l2CacheSize;
  size_t sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
};

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault,
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice };
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,  // a hint, without effect
  cudaFuncAttributeNonPortableClusterSizeAllowed = 10,  // without effect: no cluster is so large
};

// The kernel may start before the one before it has ended. Here it never does, and what it should
// have waited for is a mistake.
enum cudaLaunchAttributeID {
  cudaLaunchAttributeClusterDimension = 4,  // for cudaOccupancyMaxActiveClusters; not for launches
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};
union cudaLaunchAttributeValue {
  int programmaticStreamSerializationAllowed;
  struct {
    unsigned x, y, z;
  } clusterDim;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventDisableTiming = 2;
inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1;

// --- Errors. The text of an error of a kernel says what the simulator found.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// --- Devices
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();  // only waits: what was not given back is a leak
cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest);

// --- Streams and events. Work is done when it is queued, so there is never anything to wait for.
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// --- Memory
cudaError_t cudaMalloc(void** memory, size_t nbytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMallocAsync(void** memory, size_t nbytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t cudaMallocManaged(void** memory, size_t nbytes, unsigned flags = 1);  // always fails
cudaError_t cudaHostAlloc(void** memory, size_t nbytes, unsigned flags);
cudaError_t cudaMallocHost(void** memory, size_t nbytes);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemGetInfo(size_t* available, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory);
cudaError_t cudaMemcpy(void* to, const void* from, size_t nbytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t nbytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t nbytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t nbytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* memory, int value, size_t nbytes);
cudaError_t cudaMemsetAsync(void* memory, int value, size_t nbytes, cudaStream_t stream = nullptr);

// --- Kernels
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** args,
                             size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** args);
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetName(const char** name, const void* kernel);

template <class T>
cudaError_t cudaMalloc(T** memory, size_t nbytes) {
  return cudaMalloc(reinterpret_cast<void**>(memory), nbytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** memory, size_t nbytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(memory), nbytes, stream);
}
template <class T>
cudaError_t cudaMallocManaged(T** memory, size_t nbytes, unsigned flags = 1) {
  return cudaMallocManaged(reinterpret_cast<void**>(memory), nbytes, flags);
}
template <class T>
cudaError_t cudaMallocHost(T** memory, size_t nbytes) {
  return cudaMallocHost(reinterpret_cast<void**>(memory), nbytes);
}
template <class T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <class T>
cudaError_t cudaHostAlloc(T** memory, size_t nbytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(memory), nbytes, flags);
}

namespace gradus::cuda::sim {
// The call of a kernel: the function, what unpacks its arguments, and the size of each, then 0.
using Invoke = void (*)(const void* kernel, void** args);
void declare(const void* kernel, Invoke invoke, const size_t* sizes);

// The handle that cudaLaunchKernel knows a kernel by. nvcc makes it from the kernel itself.
template <class... Params>
const void* handle(void (*kernel)(Params...));

// Tells which part of an allocation is in use. A caching allocator calls it; otherwise the
// simulator would take all of what was once allocated for one live array. While the stream is
// captured, the work of the graph includes it.
void mark_used(void* memory, size_t nbytes, cudaStream_t stream = nullptr);
void mark_unused(void* memory, cudaStream_t stream = nullptr);
}  // namespace gradus::cuda::sim

namespace gradus::cuda::sim {
// While a thread of a kernel runs: stops looking at what it does, and goes on to.
struct Worker* look_away();
void look_again(struct Worker* worker);

// Reads the arguments unseen: they are no memory of a device. An argument that a function of its
// own copies is copied to the thread's stack first.
template <class... Params, size_t... I>
[[gnu::no_sanitize("thread")]] void call(const void* kernel, void** args,
                                         std::index_sequence<I...>) {
  const auto function = reinterpret_cast<void (*)(Params...)>(const_cast<void*>(kernel));
  if constexpr ((std::is_trivially_copyable_v<Params> && ...)) {
    function(*static_cast<Params*>(args[I])...);
  } else {
    struct Worker* const worker = look_away();
    std::tuple<Params...> copies(*static_cast<Params*>(args[I])...);
    look_again(worker);
    function(std::get<I>(copies)...);
  }
}
template <class... Params>
const void* handle(void (*kernel)(Params...)) {
  static constexpr size_t sizes[] = {sizeof(Params)..., 0};
  const auto function = reinterpret_cast<const void*>(kernel);
  const auto invoke = [](const void* entry, void** args) {
    call<Params...>(entry, args, std::index_sequence_for<Params...>{});
  };
  declare(function, invoke, sizes);
  return function;
}
}  // namespace gradus::cuda::sim

#include <sim/graphs.h>
#include <sim/occupancy.h>
#include <sim/pitched.h>
#include <sim/symbols.h>
