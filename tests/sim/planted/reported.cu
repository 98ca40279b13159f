// Mistakes of public programs, each made small: work on streams that nothing orders. The comments
// name the reports.
#include <numeric>

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/gradus.h"
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

constexpr int kNumbers = 512;
constexpr size_t kBytes = kNumbers * sizeof(int);

__global__ void double_all(const int* x, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * x[i];
}
void copy_numbers(int* to, const int* from, cudaStream_t stream) {
  cuda::check_cuda(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDefault, stream), "test");
}
void start(cudaStream_t stream, const int* x, int* out) {
  launch(double_all, {4, 128, 0, stream}, x, out);
}

// A stream that does not wait for the default stream, and memory.
struct Program {
  Program() {
    for (cudaStream_t* each : {&stream, &aux})
      cuda::check_cuda(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking), "test");
    for (int** each : {&x, &y}) {
      cuda::check_cuda(cudaMalloc(each, kBytes), "test");
      cuda::check_cuda(cudaMemset(*each, 0, kBytes), "test");
    }
    cuda::check_cuda(cudaMallocHost(&pinned, kBytes), "test");
    cuda::check_cuda(cudaDeviceSynchronize(), "test");
  }
  ~Program() {
    cudaDeviceSynchronize();
    cudaStreamDestroy(stream), cudaStreamDestroy(aux);
    cudaFree(x), cudaFree(y), cudaFreeHost(pinned);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  cudaStream_t stream = nullptr, aux = nullptr;
  int *x = nullptr, *y = nullptr, *pinned = nullptr;
};

// github.com/rapidsai/cudf/issues/22284: the buffer of a function that returns goes back to a pool
// of page-locked memory, and the next one fills it while the copy may read it.
void upload_numbers(const Program& of, int* to, int first) {
  std::iota(of.pinned, of.pinned + kNumbers, first);  // BUG staging_buffer_is_reused
  copy_numbers(to, of.pinned, of.stream);             // BUG staging_buffer_is_reused
}
const Plant staging_buffer_is_reused("staging_buffer_is_reused", "order", [] {
  const Program of;
  upload_numbers(of, of.x, 0);
  upload_numbers(of, of.y, 1000);
});

// github.com/alpaka-group/alpaka/issues/850: cudaMemcpy does not wait for such streams.
const Plant copy_ignores_the_stream("copy_ignores_the_stream", "order", [] {
  const Program of;
  std::vector<int> out(kNumbers);
  start(of.stream, of.x, of.y);                                  // BUG copy_ignores_the_stream
  cudaMemcpy(out.data(), of.y, kBytes, cudaMemcpyDeviceToHost);  // BUG copy_ignores_the_stream
});

// github.com/intel/llvm/pull/1798: of pageable memory, cudaMemcpy returns before the bytes are
// there.
const Plant upload_is_on_its_way("upload_is_on_its_way", "order", [] {
  const Program of;
  const std::vector<int> values(kNumbers, 1);
  cudaMemcpy(of.x, values.data(), kBytes, cudaMemcpyHostToDevice);  // BUG upload_is_on_its_way
  start(of.stream, of.x, of.y);                                     // BUG upload_is_on_its_way
});

// github.com/MrNeRF/LichtFeld-Studio/issues/1427: a loader's stream makes what training takes, and
// no event is handed over.
const Plant handed_over_without_event("handed_over_without_event", "order", [] {
  const Program of;
  int* mask = nullptr;
  cudaMallocAsync(&mask, kBytes, of.aux);
  start(of.aux, of.x, mask);     // BUG handed_over_without_event
  start(of.stream, mask, of.y);  // BUG handed_over_without_event
  cudaDeviceSynchronize();
  cudaFreeAsync(mask, of.aux);
});

// github.com/NVIDIA/TensorRT-LLM/pull/15265: an event orders the work, and not the allocator.
const Plant event_but_no_record_stream("event_but_no_record_stream", "order", [] {
  const Program of;
  const cuda::Stream aux = cuda::getStreamFromPool(), main = cuda::getStreamFromPool();
  Tensor weights;
  {
    const cuda::StreamGuard guard(aux);
    weights = zeros({kNumbers}, Device(kCUDA)).to(kInt);
  }
  cuda::Event made;
  made.record(aux);
  made.block(main);
  auto* const stream = static_cast<cudaStream_t>(main.handle());
  start(stream, weights.data_ptr<int>(), of.y);  // BUG event_but_no_record_stream
  weights = Tensor();                            // BUG event_but_no_record_stream
});

// github.com/Genoil/cpp-ethereum/pull/2: results are looked at before the copy of them has come.
const Plant results_are_read_early("results_are_read_early", "order", [] {
  const Program of;
  start(of.stream, of.x, of.y);
  copy_numbers(of.pinned, of.y, of.stream);            // BUG results_are_read_early
  if (of.pinned[0] > 0) start(of.stream, of.y, of.x);  // BUG results_are_read_early
});

}  // namespace
}  // namespace gradus::planted
