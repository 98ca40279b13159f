// Streams and events, and what is recorded from streams that are captured.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "gradus/cuda/sim/exec/kernel_work.h"
#include "gradus/cuda/sim/runtime/device.h"
#include "gradus/cuda/sim/runtime/queue.h"

namespace gradus::cuda::sim {
// A mark of the memory that an allocator gives out and takes back. Callers do not see it.
struct MemoryMark {
  void* memory = nullptr;  // null: this is other work
  bool gives_out = false;
};
}  // namespace gradus::cuda::sim

// A piece of work of a graph.
struct CUgraphNode_st {
  std::shared_ptr<const gradus::cuda::sim::KernelWork> kernel;  // null: something else
  std::function<cudaError_t()> other;
  gradus::cuda::sim::MemoryMark mark{};
  gradus::cuda::sim::GraphWork queued{};  // what a queue needs to know of it, but the work
  CUgraph_st* graph = nullptr;
  std::vector<std::function<cudaError_t()>> marks_before{};  // of a kernel's memory

  cudaError_t run() const;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were recorded
};

namespace gradus::cuda::sim {

// The work that the next work on a stream comes after, in a capture.
struct Position {
  std::vector<cudaGraphNode_t> after;
  std::map<cudaStream_t, size_t> seen;  // how many works of each stream
  std::map<cudaStream_t, size_t> all;   // the same with those that are not listed
  void join(const Position& other);
};

// Streams that are captured together. All of it is behind one mutex (capture.cpp).
struct Capture {
  unsigned long long id;
  cudaStreamCaptureMode mode;
  cudaStream_t origin;
  std::thread::id thread = std::this_thread::get_id();
  bool is_valid = true, has_ended = false;
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  std::map<cudaStream_t, Position> streams{};
  std::map<cudaStream_t, size_t> works{}, all_works{};  // of each stream, as in a Position
};

// A mark in a captured stream.
struct CapturedMark {
  std::shared_ptr<Capture> capture;  // null where the event is not of a capture
  Position position;
};

// Errors of a call that CUDA forbids while this thread captures, or another one for all; they spoil
// the capture.
cudaError_t refuse_in_capture();
// The same for a wait or query of one stream.
cudaError_t refuse_of_captured(cudaStream_t stream);
// Where the stream is captured: records the work, and returns what the call is to return.
// `others`: streams whose work by now it comes after, too.
std::optional<cudaError_t> record(cudaStream_t stream, const Title& title,
                                  std::function<cudaError_t()> work, const MemoryMark& mark = {},
                                  const std::vector<cudaStream_t>& others = {});
// Records the work, queues it, or does it.
inline cudaError_t do_or_record(cudaStream_t stream, const Title& title,
                                const std::function<cudaError_t()>& work) {
  if (const auto status = record(stream, title, work)) return *status;
  if (!queues_work()) return work();
  enqueue(stream, title, work);
  return cudaSuccess;
}
std::optional<cudaError_t> record_kernel(
    cudaStream_t stream, const void* kernel,
    const std::function<std::shared_ptr<const KernelWork>()>& keep);
std::optional<cudaError_t> record_event(cudaStream_t stream, CapturedMark& mark);
std::optional<cudaError_t> record_wait(cudaStream_t stream, const CapturedMark& mark,
                                       bool was_recorded);
// The stream is destroyed.
void forget(cudaStream_t stream);

}  // namespace gradus::cuda::sim

struct CUstream_st {
  int device;
  bool waits_for_default;                                 // made without cudaStreamNonBlocking
  unsigned number = 0;                                    // for reports
  std::shared_ptr<gradus::cuda::sim::Capture> capture{};  // null: none
};
struct CUevent_st {
  int device;
  bool timed, recorded = false;
  using Time = std::chrono::steady_clock::time_point;
  std::shared_ptr<Time> when{};    // of queued work: written when the device comes to it
  gradus::cuda::sim::Past past{};  // the queued work that it stands behind
  gradus::cuda::sim::CapturedMark mark{};
};
