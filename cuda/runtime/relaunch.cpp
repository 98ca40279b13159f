// Finds the nodes of launches in a graph, and gives them new arguments.
#include "gradus/cuda/runtime/relaunch.h"

#include <utility>

#include "gradus/cuda/runtime/check.h"

namespace gradus::cuda {

namespace {

thread_local constinit Relaunch* running = nullptr;

// A captured stream: the capture, and the work that its next work comes after.
struct Captured {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  const cudaGraphNode_t* after = nullptr;
  size_t count = 0;
};

Captured look(cudaStream_t stream) noexcept {
  Captured out;
  cudaGraph_t graph = nullptr;
  const cudaGraphEdgeData* edges = nullptr;  // without it, kernels that start early are an error
#if CUDART_VERSION >= 13000
  const cudaError_t status = cudaStreamGetCaptureInfo(stream, &out.status, &out.id, &graph,
                                                      &out.after, &edges, &out.count);
#else
  const cudaError_t status = cudaStreamGetCaptureInfo_v3(stream, &out.status, &out.id, &graph,
                                                         &out.after, &edges, &out.count);
#endif
  if (status == cudaSuccess && out.status == cudaStreamCaptureStatusActive) return out;
  if (status != cudaSuccess) cudaGetLastError();
  return {};
}

}  // namespace

unsigned long long capture_id(cudaStream_t stream) noexcept { return look(stream).id; }

cudaGraphNode_t last_captured(cudaStream_t stream) noexcept {
  const Captured captured = look(stream);
  return captured.count == 1 ? captured.after[0] : nullptr;
}

Relaunch* Relaunch::current() { return running; }

void Relaunch::run(cudaGraphExec_t exec) {
  exec_ = exec;
  next_ = 0;
  struct Running {
    explicit Running(Relaunch* one) : outer(std::exchange(running, one)) {}
    ~Running() { running = outer; }
    Relaunch* outer;
  };
  const Running scope(this);
  launches_(exec != nullptr);
}

void Relaunch::renew(cudaGraphExec_t exec) {
  run(exec);
  check<Error>(next_ == nodes_.size(), "replay: ", next_, " kernels were launched anew where ",
               nodes_.size(), " were captured; capture the step again");
}

void Relaunch::note(cudaStream_t stream) {
  nodes_.push_back(last_captured(stream));
  check<Error>(nodes_.back() != nullptr, "launch: the kernel's stream is not captured");
}

void Relaunch::replace(const void* kernel, const LaunchConfig& config, void** args) {
  check<Error>(next_ < nodes_.size(), "replay: more kernels are launched anew than the ",
               nodes_.size(), " that were captured; capture the step again");
  const cudaKernelNodeParams params{const_cast<void*>(kernel),
                                    config.grid,
                                    config.block,
                                    static_cast<unsigned>(config.shared_bytes),
                                    args,
                                    nullptr};
  check_cuda(cudaGraphExecKernelNodeSetParams(exec_, nodes_[next_++], &params),
             "replay: cudaGraphExecKernelNodeSetParams");
}

}  // namespace gradus::cuda
