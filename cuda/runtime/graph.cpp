// Captures of streams and their replays.
#include "gradus/cuda/runtime/graph.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/block_counters.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/fault.h"
#include "gradus/cuda/runtime/graph_memory.h"
#include "gradus/cuda/runtime/nonfinite.h"
#include "gradus/cuda/runtime/relaunch.h"
#include "gradus/tensor/math/philox.h"

namespace gradus::cuda {

namespace {

// The captures that go on, by CUDA's number of each.
std::mutex captures_mutex;
constinit std::atomic<int> captures_count{0};
std::unordered_map<unsigned long long, Graph*>& captures() {
  static auto& all = *new std::unordered_map<unsigned long long, Graph*>;
  return all;
}

cudaStream_t handle_of(const Stream& stream) { return static_cast<cudaStream_t>(stream.handle()); }

}  // namespace

struct Graph::State {
  // A generator whose draws are captured.
  struct Drawn {
    Generator generator;
    PhiloxState before{};
    uint64_t blocks = 0;  // that a replay draws
  };

  Stream stream;                 // that is captured
  std::optional<Stream> last{};  // that it was replayed on
  MempoolId_t pool{};
  unsigned long long capture = 0;  // 0: none goes on
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  std::deque<Relaunch> relaunches{};
  std::vector<Drawn> drawn{};
  StoragePtr replayed{};  // for each of them the PhiloxState of a replay, on the device
  std::map<void*, std::shared_ptr<void>> counters{};  // of blocks, by stream

  // Nothing has run yet that counts.
  cudaError_t clear_counters() const {
    if (counters.empty()) return cudaSuccess;
    constexpr size_t kBytes = kBlockCounters * sizeof(unsigned);
    for (const auto& [of, memory] : counters)
      if (const auto status = cudaMemsetAsync(memory.get(), 0, kBytes, handle_of(stream)))
        return status;
    return cudaStreamSynchronize(handle_of(stream));  // replays may go to other streams
  }

  // Ends the capture; `graph` is null where it failed.
  cudaError_t end() {
    if (capture == 0) return cudaSuccess;
    const DeviceGuard guard(stream.device_index());
    {
      const std::lock_guard lock(captures_mutex);
      captures().erase(capture);
      captures_count = static_cast<int>(captures().size());
    }
    cudaError_t status = cudaStreamEndCapture(handle_of(stream), &graph);
    if (status == cudaSuccess) status = clear_counters();
    detail::end_capture(stream.device_index(), std::exchange(capture, 0));
    for (Drawn& one : drawn) {
      one.blocks = one.generator.philox().offset & ~kCapturedDraw;
      one.generator.set_philox(one.before);
    }
    return status;
  }

  ~State() {
    if (end() != cudaSuccess) cudaGetLastError();
    relaunches.clear();
    if (exec) cudaGraphExecDestroy(exec);
    if (graph) cudaGraphDestroy(graph);
    if (last && replayed) record_stream(replayed, *last);
    if (pool.first) detail::release_graph(pool.first, last.value_or(stream));
  }
};

MempoolId_t graph_pool_handle() {
  static constinit std::atomic<unsigned long long> last{0};
  return {++last, 0};
}

Graph* Graph::capturing(int device) {
  if (captures_count.load(std::memory_order_acquire) == 0) return nullptr;
  const unsigned long long id = capture_id(handle_of(getCurrentCUDAStream(device)));
  const std::lock_guard lock(captures_mutex);
  const auto found = captures().find(id);
  return found == captures().end() ? nullptr : found->second;
}

bool is_current_stream_capturing() { return Graph::capturing() != nullptr; }

void check_not_captured(std::string_view operation, std::string_view why) {
  check<Error>(!is_current_stream_capturing(), operation,
               " cannot be captured for a graph, because ", why,
               "; do it before capture_begin() or after replay()");
}

void check_draw(const PhiloxState& state) {
  check<Error>(
      state.offset & kCapturedDraw || !is_current_stream_capturing(),
      "random: each replay of the graph would draw the same numbers, because the generator "
      "is not the device's; call register_generator_state() before capture_begin()");
}

Graph::Graph() = default;
Graph::~Graph() = default;

void Graph::register_generator_state(const Generator& generator) {
  generators_.push_back(generator);
}

void Graph::capture_begin(MempoolId_t pool) {
  check<Error>(is_available(), "capture_begin: ", why_unavailable());
  check<Error>(!state_, "capture_begin: the graph holds work already; call reset() first");
  const Stream stream = getCurrentCUDAStream();
  check<Error>(stream.handle(),
               "capture_begin: the default stream cannot be captured; make another one current, by "
               "StreamGuard guard(getStreamFromPool())");
  check_not_captured("capture_begin: the current stream", "it is captured already");
  synchronize();   // also for indices out of range that kernels have met
  device_fault();  // which cannot be made later
  empty_cache();   // none of it can be given back while a graph is captured

  auto made = std::make_unique<State>(stream);
  made->drawn.push_back({default_generator(stream.device())});
  for (const Generator& one : generators_)
    if (one != made->drawn[0].generator) made->drawn.push_back({one});
  made->replayed = detail::allocate(made->drawn.size() * sizeof(PhiloxState), stream);
  check_cuda(cudaStreamBeginCapture(handle_of(stream), cudaStreamCaptureModeThreadLocal),
             "capture_begin");
  made->capture = capture_id(handle_of(stream));
  made->pool = pool.first ? pool : graph_pool_handle();
  detail::begin_capture(stream.device_index(), made->capture, made->pool.first);
  auto address = reinterpret_cast<uint64_t>(made->replayed->data());
  for (State::Drawn& one : made->drawn) {
    one.before = one.generator.philox();
    one.generator.set_philox({address, kCapturedDraw});
    address += sizeof(PhiloxState);
  }
  {
    const std::lock_guard lock(captures_mutex);
    captures()[made->capture] = this;
    captures_count = static_cast<int>(captures().size());
  }
  state_ = std::move(made);
}

void Graph::capture_end() {
  check<Error>(state_ && state_->capture,
               "capture_end: the graph is not being captured; call capture_begin() first");
  const DeviceGuard guard(state_->stream.device_index());
  flush_nonfinite(state_->stream.device_index());
  cudaError_t status = state_->end();
  if (status == cudaSuccess) status = cudaGraphInstantiate(&state_->exec, state_->graph, 0);
  if (status == cudaSuccess) return;
  reset();
  check_cuda(status, "capture_end");
}

void Graph::replay() {
  check<Error>(state_ && state_->exec,
               "replay: nothing is captured; call capture_begin() and capture_end() first");
  State& state = *state_;
  const int device = state.stream.device_index();
  const DeviceGuard guard(device);
  check_not_captured("replay: a graph", "graphs do not nest");
  throw_if_faulted(device);
  flush_nonfinite(device);
  const Stream stream = getCurrentCUDAStream();
  // The replay before may still read the random state that this one writes.
  if (state.last && *state.last != stream && !state.drawn.empty()) {
    Event read;
    read.record(*state.last);
    read.block(stream);
  }
  auto* to = static_cast<PhiloxState*>(state.replayed->data());
  for (State::Drawn& one : state.drawn) {
    if (one.blocks > 0) {
      const PhiloxState now =
          one.generator.take(static_cast<int64_t>(one.blocks) * philox::kElementsPerBlock);
      check_cuda(cudaMemcpyAsync(to, &now, sizeof now, cudaMemcpyHostToDevice, handle_of(stream)),
                 "replay: random state");
    }
    ++to;
  }
  for (Relaunch& one : state.relaunches) one.renew(state.exec);
  check_cuda(cudaGraphLaunch(state.exec, handle_of(stream)), "replay");
  state.last = stream;
  if (launches_block()) stream.synchronize();
}

void Graph::reset() { state_.reset(); }

MempoolId_t Graph::pool() const {
  check<Error>(state_ != nullptr, "pool: the graph has no memory yet; call capture_begin() first");
  return state_->pool;
}

unsigned* Graph::block_counters() {
  auto& mine = state_->counters[getCurrentCUDAStream().handle()];
  if (!mine) mine = detail::allocate_apart(kBlockCounters * sizeof(unsigned));
  return static_cast<unsigned*>(mine.get());
}

void Graph::launch_anew(std::function<void(bool)> f) {
  state_->relaunches.emplace_back(std::move(f)).record();
}

}  // namespace gradus::cuda
