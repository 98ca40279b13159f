// Launches: what a chip would refuse, and the workers that share the blocks.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <shared_mutex>
#include <sstream>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "gradus/cuda/sim/check/endless.h"
#include "gradus/cuda/sim/check/faults.h"
#include "gradus/cuda/sim/exec/cluster.h"
#include "gradus/cuda/sim/exec/dynamic_shared.h"
#include "gradus/cuda/sim/exec/kernel_work.h"
#include "gradus/cuda/sim/exec/of_thread.h"
#include "gradus/cuda/sim/exec/worker.h"
#include "gradus/cuda/sim/runtime/device.h"
#include "gradus/cuda/sim/runtime/memory.h"
#include "gradus/cuda/sim/runtime/queue.h"
#include "gradus/cuda/sim/runtime/streams.h"
#include "gradus/cuda/sim/runtime/variables.h"

namespace gradus::cuda::sim {

namespace {

constexpr size_t kSharedWithoutAsking = 48 << 10;  // static and dynamic

// --- Kernels
struct Kernel {
  Invoke invoke = nullptr;
  const size_t* sizes = nullptr;  // of the arguments, then 0
  size_t static_shared = 0;
  size_t dynamic_limit = 0;
  unsigned cluster = 1;  // how many blocks run together
};
std::shared_mutex kernels_mutex;
std::unordered_map<const void*, Kernel>& kernels() {
  static auto& all = *new std::unordered_map<const void*, Kernel>;
  return all;
}
// REQUIRES: the mutex is held, and not shared.
Kernel& entry(const void* kernel) {
  const auto [at, is_new] = kernels().try_emplace(kernel);
  Kernel& it = at->second;
  if (is_new) {
    it.static_shared = static_shared_bytes(kernel);
    it.cluster = cluster_size_of(kernel);
    it.dynamic_limit = kSharedWithoutAsking - std::min(kSharedWithoutAsking, it.static_shared);
  }
  return it;
}

// How many threads of the operating system may run blocks at once.
uint64_t cores() {
  static const uint64_t count = [] {
    const char* const text = std::getenv("GRADUS_SIM_CORES");
    return text ? std::strtoul(text, nullptr, 10) : std::thread::hardware_concurrency();
  }();
  return std::max<uint64_t>(count, 1);
}

// --- Workers
// The threads of the operating system that run blocks, besides the one that launches.
class Pool {
 public:
  void run(Launch& launch) {
    constexpr uint64_t kWorthAThread = 4096;  // simulated threads
    const uint64_t all = launch.blocks * launch.threads();
    const size_t wanted =
        std::min<uint64_t>({cores(), launch.blocks / launch.cluster, all / kWorthAThread + 1});
    {
      const std::lock_guard lock(mutex_);
      try {
        for (; threads_ + 1 < wanted; ++threads_) std::thread([this] { work(); }).detach();
      } catch (
          const std::system_error&) {  // the system starts no more: those that there are run all
      }
      launch_ = &launch;
      open_ = wanted - 1;
      ++round_;
    }
    wake_.notify_all();
    run_here(launch);
    std::unique_lock lock(mutex_);
    open_ = 0;
    done_.wait(lock, [&] { return busy_ == 0; });
    launch_ = nullptr;
  }

 private:
  static void run_here(Launch& launch) {
    Worker& worker = of_thread<Worker>();
    const FaultStack stack;
    const LookedAfter by_watchdog(worker);
    worker.run(launch);
  }

  void work() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return open_ > 0 && round_ != seen; });
      seen = round_;
      --open_;
      ++busy_;
      Launch& launch = *launch_;
      lock.unlock();
      run_here(launch);
      lock.lock();
      if (--busy_ == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Launch* launch_ = nullptr;
  size_t threads_ = 0, open_ = 0, busy_ = 0;
  uint64_t round_ = 0;
};

// One launch at a time, whichever device it is for.
struct Runner {
  explicit Runner(unsigned generation = 0) : intervals(generation) {}
  std::mutex mutex;
  Pool pool;
  Intervals intervals;
};
// Never destroyed, since its threads do not end. A forked child has none of them, and begins anew:
// what the parent's records call an interval means nothing to it.
Runner& runner() {
  static std::atomic<Runner*> one = [] {
    pthread_atfork(nullptr, nullptr, [] {
      forget_records();
      one.store(new Runner(one.load()->intervals.generation() + 1));
    });
    return new Runner;
  }();
  return *one;
}

// --- Counting
std::mutex recordings_mutex;
int recordings = 0;
std::vector<LaunchCounts>& recorded() {
  static auto& all = *new std::vector<LaunchCounts>;
  return all;
}
bool reports() {
  static const bool on = [] {
    const char* const text = std::getenv("GRADUS_SIM_REPORT");
    return text && std::string_view(text) == "1";
  }();
  return on;
}
bool counts() {
  if (reports()) return true;
  const std::lock_guard lock(recordings_mutex);
  return recordings > 0;
}

// Where it was not declared, its invoke is null.
Kernel declared(const void* kernel) {
  const std::shared_lock lock(kernels_mutex);
  const auto found = kernels().find(kernel);
  return found == kernels().end() ? Kernel{} : found->second;
}

Index3 index_of(dim3 size) { return {size.x, size.y, size.z}; }

void keep_counts(const Counter& counter, const Launch& launch) {
  LaunchCounts out = counter.counts();
  out.kernel = function_name(launch.kernel);
  out.grid = index_of(launch.grid);
  out.block = index_of(launch.block);
  out.shared_bytes = static_cast<int64_t>(launch.shared_bytes);
  if (reports()) std::cerr << out;
  const std::lock_guard lock(recordings_mutex);
  if (recordings > 0) recorded().push_back(std::move(out));
}

// --- Launches that a chip refuses
struct Refusal {
  cudaError_t status = cudaSuccess;
  std::string text;
};

Refusal refuse(dim3 grid, dim3 block, size_t shared_bytes, const Kernel& kernel) {
  const auto text = [](const auto&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
  };
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0)
    return {cudaErrorInvalidConfiguration, "a grid or block without threads"};
  if (threads > kMostThreads || block.x > 1024 || block.y > 1024 || block.z > 64)
    return {cudaErrorInvalidConfiguration,
            text("a block of ", block.x, " x ", block.y, " x ", block.z,
                 " threads; a chip takes 1024, at most 64 in z")};
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return {cudaErrorInvalidConfiguration,
            text("a grid of ", grid.x, " x ", grid.y, " x ", grid.z,
                 " blocks; a chip takes 2147483647 x 65535 x 65535")};
  if (kernel.cluster > Cluster::kMost || grid.x % kernel.cluster != 0)
    return {cudaErrorInvalidValue,
            text("a grid of ", grid.x, " x ", grid.y, " x ", grid.z, " blocks in clusters of ",
                 kernel.cluster, "; clusters have up to ", Cluster::kMost,
                 " blocks, and the grid is a multiple of them")};
  if (kernel.static_shared > kSharedWithoutAsking)
    return {
        cudaErrorInvalidValue,
        text(kernel.static_shared, " bytes of static shared memory; nvcc compiles no more than ",
             kSharedWithoutAsking, ": make it dynamic")};
  if (shared_bytes > kernel.dynamic_limit)
    return {
        cudaErrorInvalidValue,
        text(shared_bytes, " bytes of dynamic shared memory; the kernel may use ",
             kernel.dynamic_limit, ", and up to ", kMostDynamicShared - kernel.static_shared,
             " with cudaFuncAttributeMaxDynamicSharedMemorySize",
             kernel.static_shared > 0 ? text(", beside its ", kernel.static_shared, " static ones")
                                      : "")};
  return {};
}

void publish_refusal(const void* kernel, const std::string& why) {
  publish({Kind::launch, function_name(kernel), why, {{"launched", frames_of(current_trace())}}});
}

}  // namespace

void declare(const void* kernel, Invoke invoke, const size_t* sizes) {
  {
    const std::shared_lock lock(kernels_mutex);
    const auto found = kernels().find(kernel);
    if (found != kernels().end() && found->second.invoke) return;
  }
  const std::unique_lock lock(kernels_mutex);
  Kernel& it = entry(kernel);
  it.invoke = invoke;
  it.sizes = sizes;
}

Worker* look_away() { return std::exchange(watching, nullptr); }
void look_again(Worker* worker) { watching = worker; }

Recording::Recording() {
  drain();
  const std::lock_guard lock(recordings_mutex);
  if (recordings++ == 0) recorded().clear();
}
Recording::~Recording() {
  const std::lock_guard lock(recordings_mutex);
  --recordings;
}
std::vector<LaunchCounts> Recording::launches() const {
  drain();
  const std::lock_guard lock(recordings_mutex);
  return recorded();
}

Arguments::Arguments(void** args, const size_t* sizes) {
  size_t count = 0;
  while (sizes[count] > 0) ++count;
  values_.resize(count);
  pointers_ = std::make_unique<void*[]>(count + 1);
  for (size_t i = 0; i < count; ++i) {
    values_[i].resize((sizes[i] + sizeof(Part) - 1) / sizeof(Part));
    std::memcpy(pointers_[i] = values_[i].data(), args[i], sizes[i]);
  }
}

cudaError_t check_launch(const void* kernel, dim3 grid, dim3 block, size_t shared_bytes) {
  const Kernel known = declared(kernel);
  if (!known.invoke) return cudaErrorInvalidDeviceFunction;
  const Refusal why = refuse(grid, block, shared_bytes, known);
  if (why.status) publish_refusal(kernel, why.text);
  return why.status;
}

std::shared_ptr<const KernelWork> keep_launch(const void* kernel, dim3 grid, dim3 block,
                                              void** args, size_t shared_bytes, int device,
                                              bool early) {
  return std::make_shared<KernelWork>(KernelWork{kernel, grid, block, shared_bytes, device, early,
                                                 Arguments(args, declared(kernel).sizes)});
}

namespace {
void run_now(const void* kernel, dim3 grid, dim3 block, void** args, size_t shared_bytes,
             int device, bool early) {
  load_variables();
  Launch launch;
  launch.kernel = kernel;
  const Kernel known = declared(kernel);
  launch.invoke = known.invoke;
  launch.cluster = known.cluster;
  launch.args = args;
  launch.sizes = known.sizes;
  launch.grid = grid;
  launch.block = block;
  launch.shared_bytes = shared_bytes;
  launch.device = device;
  launch.checked = checks();
  launch.early = early;
  launch.work = running;
  launch.blocks = uint64_t{grid.x} * grid.y * grid.z;
  Counter counter;
  if (counts()) launch.counter = &counter;
  {
    Runner& one = runner();
    const std::lock_guard lock(one.mutex);
    one.intervals.restart();
    launch.intervals = &one.intervals;
    const FaultWatch watch;
    one.pool.run(launch);
  }
  if (launch.counter) keep_counts(counter, launch);
  if (!launch.sightings.empty()) launch.sightings.publish(function_name(kernel));
}
}  // namespace

void run_kernel(const KernelWork& work) {
  run_now(work.kernel, work.grid, work.block, work.arguments.pointers(), work.shared_bytes,
          work.device, work.early);
}

}  // namespace gradus::cuda::sim

using namespace gradus::cuda::sim;

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** args,
                             size_t shared_bytes, cudaStream_t stream) {
  const cudaLaunchConfig_t config{grid, block, shared_bytes, stream, nullptr, 0};
  return cudaLaunchKernelExC(&config, kernel, args);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** args) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!config || (config->numAttrs > 0 && !config->attrs)) return result(cudaErrorInvalidValue);
  const auto& [grid, block, shared_bytes, stream, attributes, count] = *config;
  bool early = false;
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i].id != cudaLaunchAttributeProgrammaticStreamSerialization)
      return result(cudaErrorInvalidValue);
    early = attributes[i].val.programmaticStreamSerializationAllowed != 0;
  }
  if (!is_stream_here(stream)) return result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t status = check_launch(kernel, grid, block, shared_bytes))
    return result(status);
  const auto keep = [&] {
    return keep_launch(kernel, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                       current_zone(), early);
  };
  if (const auto status = record_kernel(stream, kernel, keep)) return result(*status);
  if (queues_work()) {
    enqueue(stream, {"", kernel}, [work = keep()] { return run_kernel(*work), cudaSuccess; });
    return result(cudaSuccess);
  }
  run_now(kernel, grid, block, args, shared_bytes, current_zone(), early);
  return result(cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) return result(cudaSuccess);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
    return result(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
    return result(cudaErrorInvalidValue);
  std::unique_lock lock(kernels_mutex);
  Kernel& it = entry(kernel);
  const size_t most = kMostDynamicShared - std::min<size_t>(kMostDynamicShared, it.static_shared);
  if (value >= 0 && static_cast<size_t>(value) <= most) {
    it.dynamic_limit = static_cast<size_t>(value);
    return result(cudaSuccess);
  }
  lock.unlock();
  publish_refusal(kernel, std::to_string(value) + " bytes of dynamic shared memory; a chip has " +
                              std::to_string(most) + " for a block" +
                              (most < kMostDynamicShared ? " beside the static ones" : ""));
  return result(cudaErrorInvalidValue);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* kernel) {
  if (!out) return result(cudaErrorInvalidValue);
  const std::unique_lock lock(kernels_mutex);
  const Kernel& it = entry(kernel);
  *out = {it.static_shared, kMostThreads, static_cast<int>(it.dynamic_limit), 90};
  return result(cudaSuccess);
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  if (!name) return result(cudaErrorInvalidValue);
  if (!kernel) return result(cudaErrorInvalidDeviceFunction);
  static std::mutex mutex;
  static auto& names = *new std::map<const void*, std::string>;
  const std::lock_guard lock(mutex);
  auto& text = names[kernel];
  if (text.empty()) text = function_name(kernel);
  *name = text.c_str();
  return result(cudaSuccess);
}
