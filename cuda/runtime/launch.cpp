// Starts kernels, and remembers the last ones.
#include "gradus/cuda/runtime/launch.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/fault.h"
#include "gradus/cuda/runtime/relaunch.h"
#include "gradus/cuda/runtime/stats.h"

namespace gradus::cuda {

namespace {

struct Launch {
  const void* kernel;
  const char* file;
  uint64_t shared_bytes;
  uint32_t line;
  int32_t device;
  dim3 grid, block;
};

// The ring is written by all threads without a lock. Words of two launches may mix where 16 others
// pass while one is written; as it only feeds messages, that does no harm.
constexpr size_t kRing = 16;
using Words = std::array<uint64_t, sizeof(Launch) / sizeof(uint64_t)>;
constinit std::array<std::array<std::atomic<uint64_t>, Words{}.size()>, kRing> ring{};

void remember(const Launch& launch) {
  const auto words = std::bit_cast<Words>(launch);
  auto& slot = ring[static_cast<size_t>(detail::count(detail::counters.kernel_launches)) % kRing];
  for (size_t i = 0; i < words.size(); ++i) slot[i].store(words[i], std::memory_order_relaxed);
}

Launch recall(size_t ordinal) {
  Words words;
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = ring[ordinal % kRing][i].load(std::memory_order_relaxed);
  return std::bit_cast<Launch>(words);
}

std::string kernel_name(const void* kernel) {
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) != cudaSuccess || !name) {
    cudaGetLastError();
    return "(unnamed kernel)";
  }
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(name, nullptr, nullptr, nullptr), std::free);
  return readable ? readable.get() : name;
}

std::string text(const dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

std::string describe(const Launch& launch) {
  const char* slash = std::strrchr(launch.file, '/');
  return kernel_name(launch.kernel) + " at " + (slash ? slash + 1 : launch.file) + ":" +
         std::to_string(launch.line) + ", grid " + text(launch.grid) + ", block " +
         text(launch.block) + ", " + std::to_string(launch.shared_bytes) +
         " bytes of shared memory, on cuda:" + std::to_string(launch.device);
}

// Lets a kernel have so much dynamic shared memory on a device. How much it may have unasked
// depends on its static shared memory. The limit only grows, as other threads may launch it with
// more.
cudaError_t allow_shared(const void* kernel, int device, size_t bytes) {
  static std::mutex mutex;
  static auto& limits = *new std::map<std::pair<const void*, int>, size_t>;
  const std::lock_guard lock(mutex);
  size_t& limit = limits[{kernel, device}];
  if (limit == 0) {
    cudaFuncAttributes now{};
    if (const cudaError_t status = cudaFuncGetAttributes(&now, kernel)) return status;
    limit = static_cast<size_t>(now.maxDynamicSharedSizeBytes);
  }
  if (bytes <= limit) return cudaSuccess;
  const cudaError_t status = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (status == cudaSuccess) limit = bytes;
  return status;
}

// Whether the kernels of this library wait for earlier ones themselves on the device, as those do
// that were compiled for compute capability 9.0 or later. `kernel` stands for them all.
bool wait_themselves(const void* kernel, int device) {
  static constinit std::array<std::atomic<signed char>, kMaxDevices> known{};  // 0: not asked yet
  std::atomic<signed char>& mine = known[static_cast<size_t>(device)];
  if (mine == 0) {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "launch");
    mine = attributes.ptxVersion >= 90 ? 1 : -1;
  }
  return mine > 0;
}

cudaError_t queue(const void* kernel, const LaunchConfig& config, void** args, bool early) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t out{};
  out.gridDim = config.grid;
  out.blockDim = config.block;
  out.dynamicSmemBytes = config.shared_bytes;
  out.stream = config.stream;
  out.attrs = &attribute;
  out.numAttrs = early ? 1 : 0;
  return cudaLaunchKernelExC(&out, kernel, args);
}

}  // namespace

bool launches_block() {
  static const bool on = [] {
    const char* value = std::getenv("GRADUS_CUDA_BLOCKING");
    return value && std::strcmp(value, "1") == 0;
  }();
  return on;
}

void detail::launch(const void* kernel, const LaunchConfig& config, void** args, bool early) {
  const auto& [grid, block, shared_bytes, stream, where] = config;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  Relaunch* const relaunch = Relaunch::current();
  if (relaunch && !relaunch->is_recording()) [[unlikely]]
    return relaunch->replace(kernel, config, args);
  const int device = current_device();
  throw_if_faulted(device);
  const Launch launch{kernel, where.file_name(), shared_bytes, where.line(), device, grid, block};
  cudaError_t status = cudaSuccess;
  if (shared_bytes > 0) status = allow_shared(kernel, device, shared_bytes);
  if (status == cudaSuccess)
    status = queue(kernel, config, args, early && wait_themselves(kernel, device));
  if (status != cudaSuccess) [[unlikely]]
    check_cuda(status, "launch of ", describe(launch));
  remember(launch);
  if (relaunch) [[unlikely]]
    relaunch->note(stream);
  if (launches_block() && capture_id(stream) == 0) [[unlikely]] {
    status = cudaStreamSynchronize(stream);
    after_wait(status, device, status == cudaSuccess ? "" : "kernel " + describe(launch));
  }
}

std::string recent_launches() {
  const auto count = static_cast<size_t>(stats().kernel_launches);
  std::string out;
  for (size_t i = 0; i < std::min(count, kRing); ++i) {
    const Launch launch = recall(count - 1 - i);
    if (launch.kernel) out += "  " + describe(launch) + "\n";
  }
  return out;
}

}  // namespace gradus::cuda
