// Streams that are captured: what is recorded, and what CUDA forbids meanwhile. The rules are those
// of the CUDA Programming Guide, "Stream Capture", and of the calls in the runtime's reference.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "gradus/cuda/sim/runtime/streams.h"

namespace gradus::cuda::sim {

namespace {

std::mutex captures_mutex;
constinit std::atomic<size_t> captures_count{0};  // of captures that go on
std::vector<std::shared_ptr<Capture>>& captures() {
  static auto& all = *new std::vector<std::shared_ptr<Capture>>;
  return all;
}
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// Whether this thread may not make unsafe calls because of the capture.
bool forbids(const Capture& capture) {
  if (capture.mode == cudaStreamCaptureModeRelaxed || thread_mode == cudaStreamCaptureModeRelaxed)
    return false;
  return capture.thread == std::this_thread::get_id() ||
         (capture.mode == cudaStreamCaptureModeGlobal &&
          thread_mode == cudaStreamCaptureModeGlobal);
}

// The capture that the stream is part of, or null. An error of the default stream: it would wait
// for a stream that is captured. REQUIRES: the mutex is held.
cudaError_t find_capture(cudaStream_t stream, Capture*& out) {
  out = stream ? stream->capture.get() : nullptr;
  if (stream) return out && !out->is_valid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  cudaError_t status = cudaSuccess;
  for (const auto& capture : captures())
    for (const auto& [captured, position] : capture->streams)
      if (captured->waits_for_default) {
        capture->is_valid = false;
        status = cudaErrorStreamCaptureImplicit;
      }
  return status;
}

// Adds a node for record(). REQUIRES: captures go on.
std::optional<cudaError_t> add(cudaStream_t stream, CUgraphNode_st node,
                               const std::vector<cudaStream_t>& others = {}) {
  const std::lock_guard lock(captures_mutex);
  Capture* capture = nullptr;
  if (const cudaError_t status = find_capture(stream, capture)) return status;
  if (!capture) return std::nullopt;
  const bool is_listed = !node.mark.memory;
  node.graph = capture->graph.get();
  if (queues_work()) {
    node.queued.recorded_on = stream;
    node.queued.trace = kept_trace();
    const auto come_after_stream = [&](cudaStream_t before) {
      const auto found = capture->streams.find(before);
      if (found == capture->streams.end()) return;
      for (const auto& seen : found->second.all) node.queued.after.push_back(seen);
    };
    come_after_stream(stream);
    for (const cudaStream_t each : others) come_after_stream(each);
  }
  auto& nodes = capture->graph->nodes;
  nodes.push_back(std::make_unique<CUgraphNode_st>(std::move(node)));
  Position& position = capture->streams[stream];
  position.all[stream] = ++capture->all_works[stream];
  if (is_listed) {
    position.after = {nodes.back().get()};
    position.seen[stream] = ++capture->works[stream];
  }
  return cudaSuccess;
}

bool nothing_captured() { return captures_count.load(std::memory_order_acquire) == 0; }

// Later calls for its streams are as before it. REQUIRES: the mutex is held.
void end(Capture& capture) {
  capture.has_ended = true;
  std::erase_if(captures(), [&](const auto& each) { return each.get() == &capture; });
  captures_count.store(captures().size(), std::memory_order_release);
  const auto members = std::move(capture.streams);
  for (const auto& [stream, position] : members) stream->capture.reset();
}

}  // namespace

void Position::join(const Position& other) {
  for (const cudaGraphNode_t node : other.after)
    if (std::find(after.begin(), after.end(), node) == after.end()) after.push_back(node);
  for (const auto& [stream, count] : other.seen) seen[stream] = std::max(seen[stream], count);
  for (const auto& [stream, count] : other.all) all[stream] = std::max(all[stream], count);
}

cudaError_t refuse_in_capture() {
  if (nothing_captured()) return cudaSuccess;
  const std::lock_guard lock(captures_mutex);
  cudaError_t status = cudaSuccess;
  for (const auto& capture : captures())
    if (forbids(*capture)) {
      capture->is_valid = false;
      status = cudaErrorStreamCaptureUnsupported;
    }
  return status;
}

cudaError_t refuse_of_captured(cudaStream_t stream) {
  if (nothing_captured()) return cudaSuccess;
  {
    const std::lock_guard lock(captures_mutex);
    Capture* capture = nullptr;
    if (const cudaError_t status = find_capture(stream, capture)) return status;
    if (capture) {
      capture->is_valid = false;
      return cudaErrorStreamCaptureUnsupported;
    }
  }
  return refuse_in_capture();
}

std::optional<cudaError_t> record(cudaStream_t stream, const Title& title,
                                  std::function<cudaError_t()> work, const MemoryMark& mark,
                                  const std::vector<cudaStream_t>& others) {
  if (nothing_captured()) return std::nullopt;
  return add(stream, {nullptr, std::move(work), mark, {.title = title}}, others);
}
std::optional<cudaError_t> record_kernel(
    cudaStream_t stream, const void* kernel,
    const std::function<std::shared_ptr<const KernelWork>()>& keep) {
  if (nothing_captured() || !(stream && stream->capture)) return record(stream, {}, {});
  return add(stream, {keep(), {}, {}, {.title = {"", kernel}}});
}

std::optional<cudaError_t> record_event(cudaStream_t stream, CapturedMark& mark) {
  if (nothing_captured()) return std::nullopt;
  const std::lock_guard lock(captures_mutex);
  Capture* capture = nullptr;
  if (const cudaError_t status = find_capture(stream, capture)) return status;
  if (!capture) return std::nullopt;
  mark = {stream->capture, capture->streams[stream]};
  return cudaSuccess;
}

std::optional<cudaError_t> record_wait(cudaStream_t stream, const CapturedMark& mark,
                                       bool was_recorded) {
  if (nothing_captured())
    return mark.capture ? std::optional(cudaErrorCapturedEvent) : std::nullopt;
  const std::lock_guard lock(captures_mutex);
  Capture* own = nullptr;
  if (const cudaError_t status = find_capture(stream, own)) return status;
  Capture* const other = mark.capture.get();
  if (!other) {
    if (!own || !was_recorded) return std::nullopt;
    own->is_valid = false;
    return cudaErrorStreamCaptureIsolation;
  }
  if (other->has_ended) return cudaErrorCapturedEvent;
  if (!other->is_valid) return cudaErrorStreamCaptureInvalidated;
  if ((own && own != other) || !stream) {
    other->is_valid = false;
    if (own) own->is_valid = false;
    return stream ? cudaErrorStreamCaptureMerge : cudaErrorStreamCaptureImplicit;
  }
  stream->capture = mark.capture;
  other->streams[stream].join(mark.position);
  return cudaSuccess;
}

void forget(cudaStream_t stream) {
  const std::lock_guard lock(captures_mutex);
  if (const auto capture = stream->capture) {
    capture->is_valid = false;
    capture->streams.erase(stream);
    if (capture->origin == stream) end(*capture);
  }
}

}  // namespace gradus::cuda::sim

using namespace gradus::cuda::sim;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
    return result(cudaErrorInvalidValue);
  if (!stream) return result(cudaErrorStreamCaptureUnsupported);
  const std::lock_guard lock(captures_mutex);
  if (stream->capture) {
    stream->capture->is_valid = false;
    return result(cudaErrorStreamCaptureUnsupported);
  }
  static unsigned long long last_id = 0;
  const auto made = std::make_shared<Capture>(Capture{++last_id, mode, stream});
  made->streams[stream];
  stream->capture = made;
  captures().push_back(made);
  captures_count.store(captures().size(), std::memory_order_release);
  return result(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (graph) *graph = nullptr;
  if (!graph || !is_stream(stream)) return result(cudaErrorInvalidValue);
  const std::lock_guard lock(captures_mutex);
  const auto capture = stream ? stream->capture : nullptr;
  if (!capture) return result(cudaErrorInvalidValue);
  if (capture->origin != stream) {
    capture->is_valid = false;
    return result(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    capture->is_valid = false;
    return result(cudaErrorStreamCaptureWrongThread);
  }
  cudaError_t status = capture->is_valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
  auto& seen = capture->streams[stream].seen;
  for (const auto& [member, count] : capture->works)
    if (status == cudaSuccess && seen[member] < count) status = cudaErrorStreamCaptureUnjoined;
  end(*capture);
  if (status == cudaSuccess) *graph = capture->graph.release();
  return result(status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  if (!status || !is_stream(stream)) return result(cudaErrorInvalidValue);
  *status = cudaStreamCaptureStatusNone;
  if (nothing_captured()) return result(cudaSuccess);
  const std::lock_guard lock(captures_mutex);
  Capture* capture = nullptr;
  const cudaError_t found = find_capture(stream, capture);
  if (!capture) return result(found);
  *status = found ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  const auto& after = capture->streams[stream].after;
  if (id) *id = capture->id;
  if (graph) *graph = capture->graph.get();
  if (dependencies) *dependencies = after.data();
  if (edges) *edges = nullptr;
  if (count) *count = after.size();
  return result(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
    return result(cudaErrorInvalidValue);
  std::swap(thread_mode, *mode);
  return result(cudaSuccess);
}
