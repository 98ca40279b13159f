// Kernels of a graph that get new arguments before a replay.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <vector>

#include "gradus/cuda/runtime/launch.h"

namespace gradus::cuda {

// The capture that the stream is part of; 0 for none.
unsigned long long capture_id(cudaStream_t stream) noexcept;

// The one work that the stream's next work comes after, while it is captured; null for several, or
// none.
cudaGraphNode_t last_captured(cudaStream_t stream) noexcept;

// The launches of one function: first into a stream that is captured, and then, before each replay,
// the same kernels with other arguments, which replace those of the graph.
class Relaunch {
 public:
  explicit Relaunch(std::function<void(bool)> launches) : launches_(std::move(launches)) {}

  void record() { run(nullptr); }
  // Errors: Error where other kernels are launched.
  void renew(cudaGraphExec_t exec);

  // The one whose function runs on this thread, or null.
  static Relaunch* current();
  bool is_recording() const { return !exec_; }
  // launch() calls these: a kernel was launched, or it takes the place of its predecessor.
  void note(cudaStream_t stream);
  void replace(const void* kernel, const LaunchConfig& config, void** args);

 private:
  void run(cudaGraphExec_t exec);

  std::function<void(bool)> launches_;
  std::vector<cudaGraphNode_t> nodes_;
  cudaGraphExec_t exec_ = nullptr;  // null while it is recorded
  size_t next_ = 0;
};

}  // namespace gradus::cuda
