// Work on streams, and the host, that use one memory while nothing orders them. The lines are those
// that queue the work, or where the host touches memory.
#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/gradus.h"
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

constexpr int kCount = 256;

__global__ void add_one(const float* x, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = x[i] + 1;
}
__global__ void fill_with(float* out, float value) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// Two streams that nothing orders, an event, and memory of the device and of the host.
struct Streams {
  Streams() {
    for (cudaStream_t* each : {&first, &second})
      cuda::check_cuda(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking), "test");
    cuda::check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "test");
    for (float** each : {&x, &y, &z})
      cuda::check_cuda(cudaMalloc(each, kCount * sizeof(float)), "test");
    cuda::check_cuda(cudaMemset(x, 0, kCount * sizeof(float)), "test");
    cuda::check_cuda(cudaMallocHost(&host, kCount * sizeof(float)), "test");
    for (int i = 0; i < kCount; ++i) host[i] = 1;
    cuda::check_cuda(cudaDeviceSynchronize(), "test");
  }
  ~Streams() {
    cudaDeviceSynchronize();
    for (cudaStream_t each : {first, second}) cudaStreamDestroy(each);
    cudaEventDestroy(event);
    for (float* each : {x, y, z}) cudaFree(each);
    cudaFreeHost(host);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  float *x = nullptr, *y = nullptr, *z = nullptr, *host = nullptr;
};

void add(cudaStream_t stream, const float* x, float* out) {
  launch(add_one, {2, 128, 0, stream}, x, out);
}
void fill(cudaStream_t stream, float* out) { launch(fill_with, {2, 128, 0, stream}, out, 3); }
void copy(void* to, const void* from, cudaStream_t stream) {
  cuda::check_cuda(cudaMemcpyAsync(to, from, kCount * sizeof(float), cudaMemcpyDefault, stream),
                   "test");
}

// Nobody waits for the event.
const Plant missing_event_wait("missing_event_wait", "order", [] {
  const Streams s;
  fill(s.first, s.y);  // BUG missing_event_wait
  cudaEventRecord(s.event, s.first);
  add(s.second, s.y, s.z);  // BUG missing_event_wait
});

// The stream that did the work waits, and the other one does not.
const Plant wait_on_the_wrong_stream("wait_on_the_wrong_stream", "order", [] {
  const Streams s;
  fill(s.first, s.y);  // BUG wait_on_the_wrong_stream
  cudaEventRecord(s.event, s.first);
  cudaStreamWaitEvent(s.first, s.event);
  copy(s.z, s.y, s.second);  // BUG wait_on_the_wrong_stream
});

// The event stands before the work that it should stand behind.
const Plant event_before_the_work("event_before_the_work", "order", [] {
  const Streams s;
  cudaEventRecord(s.event, s.first);
  copy(s.y, s.host, s.first);  // BUG event_before_the_work
  cudaStreamWaitEvent(s.second, s.event);
  add(s.second, s.y, s.z);  // BUG event_before_the_work
});

// The second kernel changes what the first one still reads.
const Plant overwritten_while_read("overwritten_while_read", "order", [] {
  const Streams s;
  add(s.first, s.x, s.y);  // BUG overwritten_while_read
  fill(s.second, s.x);     // BUG overwritten_while_read
});

// A stream made with cudaStreamNonBlocking does not wait for the default stream.
const Plant default_stream_waits_not("default_stream_waits_not", "order", [] {
  const Streams s;
  cudaMemset(s.y, 0, kCount * sizeof(float));  // BUG default_stream_waits_not
  add(s.first, s.y, s.z);                      // BUG default_stream_waits_not
});

// The second stream still reads the memory.
const Plant freed_on_another_stream("freed_on_another_stream", "order", [] {
  const Streams s;
  float* more = nullptr;
  cudaMallocAsync(&more, kCount * sizeof(float), s.first);
  fill(s.first, more);
  cudaEventRecord(s.event, s.first);
  cudaStreamWaitEvent(s.second, s.event);
  add(s.second, more, s.z);      // BUG freed_on_another_stream
  cudaFreeAsync(more, s.first);  // BUG freed_on_another_stream
});

// A tensor goes while another stream than its own may use it.
const Plant no_record_stream("no_record_stream", "order", [] {
  const Streams s;
  const cuda::Stream side = cuda::getStreamFromPool();
  Tensor x = zeros({kCount}, kCUDA);
  cuda::Event made;
  made.record(cuda::getCurrentCUDAStream());
  made.block(side);
  add(static_cast<cudaStream_t>(side.handle()), x.data_ptr<float>(), s.y);  // BUG no_record_stream
  x = Tensor();                                                             // BUG no_record_stream
});

const Plant host_reads_too_early("host_reads_too_early", "order", [] {
  const Streams s;
  copy(s.host, s.x, s.first);                       // BUG host_reads_too_early
  if (s.host[7] == 5) copy(s.x, s.host, s.second);  // BUG host_reads_too_early
});

// The copy may still read what the host changes.
const Plant host_writes_too_early("host_writes_too_early", "order", [] {
  const Streams s;
  copy(s.x, s.host, s.first);  // BUG host_writes_too_early
  s.host[7] = 5;               // BUG host_writes_too_early
});

const Plant non_blocking_read_early("non_blocking_read_early", "order", [] {
  const Tensor x = zeros({kCount}, kCUDA), host = empty({kCount}).pin_memory();
  cuda::synchronize();
  host.copy_(x, true);                                     // BUG non_blocking_read_early
  volatile float first = host.const_data_ptr<float>()[0];  // BUG non_blocking_read_early
  (void)first;
  cuda::synchronize();
});

cudaGraphExec_t end_capture(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cuda::check_cuda(cudaStreamEndCapture(stream, &graph), "test");
  cuda::check_cuda(cudaGraphInstantiate(&exec, graph, 0), "test");
  cuda::check_cuda(cudaGraphDestroy(graph), "test");
  return exec;
}

// The new input is copied while the graph's last replay may read the old one.
const Plant replay_without_wait("replay_without_wait", "order", [] {
  const Streams s;
  cudaStreamBeginCapture(s.first, cudaStreamCaptureModeThreadLocal);
  add(s.first, s.x, s.y);  // BUG replay_without_wait
  cudaGraphExec_t exec = end_capture(s.first);
  cudaGraphLaunch(exec, s.first);
  copy(s.x, s.host, s.second);  // BUG replay_without_wait
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
});

// The branches of the graph are joined at its end, and one needs what the other makes.
const Plant branches_of_a_graph("branches_of_a_graph", "order", [] {
  const Streams s;
  cudaStreamBeginCapture(s.first, cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(s.event, s.first);
  cudaStreamWaitEvent(s.second, s.event);
  fill(s.first, s.y);       // BUG branches_of_a_graph
  add(s.second, s.y, s.z);  // BUG branches_of_a_graph
  cudaEventRecord(s.event, s.second);
  cudaStreamWaitEvent(s.first, s.event);
  cudaGraphExec_t exec = end_capture(s.first);
  cudaGraphLaunch(exec, s.first);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
});

// --- The same as it should be
const Plant ordered_streams("ordered_streams", "", [] {
  const Streams s;
  copy(s.y, s.host, s.first);
  cudaEventRecord(s.event, s.first);
  cudaStreamWaitEvent(s.second, s.event);
  add(s.second, s.y, s.z);
  copy(s.host, s.z, s.second);
  cudaStreamSynchronize(s.second);
  if (s.host[7] != 2) cuda::check_cuda(cudaErrorInvalidValue, "test");
  s.host[7] = 5;
  copy(s.x, s.host, s.first);
  while (cudaStreamQuery(s.first) == cudaErrorNotReady) cudaGetLastError();
  s.host[7] = 6;
});

const Plant recorded_stream("recorded_stream", "", [] {
  const Streams s;
  const cuda::Stream side = cuda::getStreamFromPool();
  for (int round = 0; round < 3; ++round) {
    const Tensor x = zeros({kCount}, kCUDA);
    cuda::Event made;
    made.record(cuda::getCurrentCUDAStream());
    made.block(side);
    add(static_cast<cudaStream_t>(side.handle()), x.data_ptr<float>(), s.y);
    cuda::record_stream(x.storage().impl_ptr(), side);
  }
  cuda::synchronize();
});

const Plant joined_branches("joined_branches", "", [] {
  const Streams s;
  cudaStreamBeginCapture(s.first, cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(s.event, s.first);
  cudaStreamWaitEvent(s.second, s.event);
  add(s.first, s.x, s.y);
  add(s.second, s.x, s.z);
  cudaEventRecord(s.event, s.second);
  cudaStreamWaitEvent(s.first, s.event);
  add(s.first, s.z, s.y);
  cudaGraphExec_t exec = end_capture(s.first);
  for (int round = 0; round < 3; ++round) {
    cudaGraphLaunch(exec, s.first);
    copy(s.x, s.host, s.first);
  }
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
});

}  // namespace
}  // namespace gradus::planted
