// Captured streams and graphs of the simulated runtime. The rules are those of the CUDA Programming
// Guide, "Stream Capture".

#include <thread>

#include "tests/sim/runtime_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

struct Scaling {
  int factor, shift;
};
__global__ void scale_kernel(const int* x, int* out, Scaling by) {
  out[threadIdx.x] = x[threadIdx.x] * by.factor + by.shift;
}

class SimGraphTest : public SimRuntimeTest {
 protected:
  void SetUp() override {
    SimRuntimeTest::SetUp();
    if (IsSkipped()) return;
    for (cudaStream_t* each : {&stream, &other})
      ASSERT_EQ(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  }
  void TearDown() override {
    if (!IsSkipped()) {
      cudaStreamDestroy(stream);
      cudaStreamDestroy(other);
      cudaEventDestroy(event);
    }
    SimRuntimeTest::TearDown();
  }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  }
  // Ends a capture that something has spoilt.
  void expect_end(cudaError_t status) {
    cudaGraph_t graph = nullptr;
    expect_status(cudaStreamEndCapture(stream, &graph), status);
    EXPECT_EQ(graph, nullptr);
    cudaStreamCaptureStatus now;
    expect_status(cudaStreamIsCapturing(stream, &now), cudaSuccess);
    EXPECT_EQ(now, cudaStreamCaptureStatusNone);
  }
  cudaGraphExec_t end() {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    expect_status(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    expect_status(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    expect_status(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
  }
  cudaStreamCaptureStatus status_of(cudaStream_t of) {
    cudaStreamCaptureStatus status;
    expect_status(cudaStreamIsCapturing(of, &status), cudaSuccess);
    return status;
  }

  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t event = nullptr;
};

TEST_F(SimGraphTest, RecordsWorkAndDoesItAtEachLaunch) {
  const DeviceArray<int> x(32, 1), y(32, 7), z(32, 7);
  begin();
  EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusActive);
  EXPECT_EQ(status_of(other), cudaStreamCaptureStatusNone);
  expect_status(launch_raw(scale_kernel, 1, 32, 0, stream, x, y, Scaling{2, 3}), cudaSuccess);
  expect_status(cudaMemcpyAsync(z, y, 64, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  expect_status(cudaMemsetAsync(static_cast<int*>(z) + 31, 0, 4, stream), cudaSuccess);
  cudaGraphExec_t exec = end();
  EXPECT_EQ(y.values(), std::vector<int>(32, 7)) << "nothing has run";
  for (const int start : {1, 10}) {
    const std::vector<int> values(32, start);
    ASSERT_EQ(cudaMemcpy(x, values.data(), 128, cudaMemcpyHostToDevice), cudaSuccess);
    expect_status(cudaGraphLaunch(exec, start == 1 ? other : nullptr), cudaSuccess);
    EXPECT_EQ(y.values(), std::vector<int>(32, 2 * start + 3));
    std::vector<int> expected(32, 7);
    for (int i = 0; i < 16; ++i) expected[static_cast<size_t>(i)] = 2 * start + 3;
    expected[31] = 0;
    EXPECT_EQ(z.values(), expected);
  }
  expect_status(cudaGraphExecDestroy(exec), cudaSuccess);
  expect_status(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
  expect_status(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
}

TEST_F(SimGraphTest, AnEventTakesAnotherStreamIntoTheCapture) {
  const DeviceArray<int> x(32, 1), y(32, 0), z(32, 0);
  begin();
  expect_status(launch_raw(scale_kernel, 1, 32, 0, stream, x, y, Scaling{2, 0}), cudaSuccess);
  expect_status(cudaEventRecord(event, stream), cudaSuccess);
  expect_status(cudaStreamWaitEvent(other, event), cudaSuccess);
  EXPECT_EQ(status_of(other), cudaStreamCaptureStatusActive);
  expect_status(launch_raw(scale_kernel, 1, 32, 0, other, y, z, Scaling{1, 1}), cudaSuccess);
  expect_status(cudaEventRecord(event, other), cudaSuccess);
  expect_status(cudaStreamWaitEvent(stream, event), cudaSuccess);
  cudaGraphExec_t exec = end();
  EXPECT_EQ(status_of(other), cudaStreamCaptureStatusNone);
  expect_status(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(z.values(), std::vector<int>(32, 3));
  expect_status(cudaGraphExecDestroy(exec), cudaSuccess);
  // The mark is one of the capture, and is gone with it.
  expect_status(cudaEventQuery(event), cudaErrorCapturedEvent);
  expect_status(cudaStreamWaitEvent(stream, event), cudaErrorCapturedEvent);
  expect_status(cudaEventRecord(event, stream), cudaSuccess);
  expect_status(cudaEventQuery(event), cudaSuccess);
}

TEST_F(SimGraphTest, RefusesAStreamThatIsNotJoined) {
  const DeviceArray<int> x(32, 1);
  begin();
  expect_status(cudaEventRecord(event, stream), cudaSuccess);
  expect_status(cudaStreamWaitEvent(other, event), cudaSuccess);
  expect_status(cudaMemsetAsync(x, 0, 128, other), cudaSuccess);
  cudaGraph_t graph = nullptr;
  expect_status(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  expect_end(cudaErrorStreamCaptureInvalidated);

  begin();
  expect_status(cudaEventRecord(event, stream), cudaSuccess);
  expect_status(cudaStreamWaitEvent(other, event), cudaSuccess);
  expect_status(cudaMemsetAsync(x, 0, 128, other), cudaSuccess);
  expect_end(cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(x.values(), std::vector<int>(32, 1));
}

TEST_F(SimGraphTest, WhatWaitsOrAllocatesSpoilsTheCapture) {
  const DeviceArray<int> x(32, 1);
  int value = 0;
  void* memory = nullptr;
  const auto expect_refused = [&](auto call, cudaStreamCaptureMode mode) {
    begin(mode);
    expect_status(call(), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusInvalidated);
    expect_status(cudaMemsetAsync(x, 0, 128, stream), cudaErrorStreamCaptureInvalidated);
    expect_end(cudaErrorStreamCaptureInvalidated);
  };
  const auto always = [&](auto call) {
    for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                            cudaStreamCaptureModeRelaxed})
      expect_refused(call, mode);
  };
  const auto unless_relaxed = [&](auto call) {
    for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal})
      expect_refused(call, mode);
  };
  always([&] { return cudaStreamSynchronize(stream); });
  always([&] { return cudaStreamQuery(stream); });
  unless_relaxed([] { return cudaDeviceSynchronize(); });
  unless_relaxed([&] { return cudaMalloc(&memory, 4); });
  unless_relaxed([&] { return cudaFree(x); });
  unless_relaxed([&] { return cudaHostAlloc(&memory, 4, 0); });
  unless_relaxed([&] { return cudaMemcpy(&value, x, 4, cudaMemcpyDeviceToHost); });
  unless_relaxed([&] { return cudaMemset(x, 0, 4); });

  begin();
  auto mode = cudaStreamCaptureModeRelaxed;
  expect_status(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  expect_status(cudaMalloc(&memory, 4), cudaSuccess);
  expect_status(cudaFree(memory), cudaSuccess);
  expect_status(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  expect_status(cudaGraphExecDestroy(end()), cudaSuccess);
  EXPECT_EQ(x.values(), std::vector<int>(32, 1));
}

TEST_F(SimGraphTest, OtherThreadsAreRefusedByTheModeGlobalAlone) {
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    const bool is_global = mode == cudaStreamCaptureModeGlobal;
    begin(mode);
    cudaError_t allocated = cudaSuccess, ended = cudaSuccess;
    std::thread([&] {
      void* memory = nullptr;
      allocated = cudaMalloc(&memory, 4);
      if (allocated == cudaSuccess) cudaFree(memory);
      cudaGraph_t graph = nullptr;
      ended = cudaStreamEndCapture(stream, &graph);
    }).join();
    EXPECT_EQ(allocated, is_global ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
    EXPECT_EQ(ended, cudaErrorStreamCaptureWrongThread);
    expect_end(cudaErrorStreamCaptureInvalidated);
  }
}

TEST_F(SimGraphTest, RefusesTheDefaultStreamAndWorkFromOutside) {
  const DeviceArray<int> x(32, 1);
  expect_status(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
                cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  expect_status(cudaStreamEndCapture(stream, &graph), cudaErrorInvalidValue);

  expect_status(cudaEventRecord(event, other), cudaSuccess);
  begin();
  expect_status(cudaStreamWaitEvent(stream, event), cudaErrorStreamCaptureIsolation);
  expect_end(cudaErrorStreamCaptureInvalidated);

  // A stream that the default stream waits for.
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed), cudaSuccess);
  expect_status(cudaMemsetAsync(x, 0, 128, nullptr), cudaErrorStreamCaptureImplicit);
  expect_status(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
  expect_status(cudaStreamDestroy(blocking), cudaSuccess);
  EXPECT_EQ(x.values(), std::vector<int>(32, 1));
}

TEST_F(SimGraphTest, TwoCapturesDoNotMerge) {
  begin();
  ASSERT_EQ(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  expect_status(cudaEventRecord(event, other), cudaSuccess);
  expect_status(cudaStreamWaitEvent(stream, event), cudaErrorStreamCaptureMerge);
  expect_end(cudaErrorStreamCaptureInvalidated);
  cudaGraph_t graph = nullptr;
  expect_status(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(SimGraphTest, ANodeTakesNewArguments) {
  const DeviceArray<int> x(32, 1), y(32, 0);
  begin();
  expect_status(launch_raw(scale_kernel, 1, 32, 0, stream, x, y, Scaling{2, 0}), cudaSuccess);
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  const cudaGraphNode_t* after = nullptr;
  size_t count = 0;
  expect_status(cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, &after, nullptr, &count),
                cudaSuccess);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  const cudaGraphNode_t node = after[0];
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphNode_t listed = nullptr;
  expect_status(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  expect_status(cudaGraphGetNodes(graph, &listed, &count), cudaSuccess);
  EXPECT_EQ(listed, node);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph), cudaSuccess);

  const int* from = x;
  int* to = y;
  Scaling by{5, 5};
  void* args[] = {&from, &to, &by};
  cudaKernelNodeParams params{
      const_cast<void*>(cuda::detail::handle(scale_kernel)), 1, 16, 0, args, nullptr};
  expect_status(cudaGraphExecKernelNodeSetParams(exec, node, &params), cudaSuccess);
  expect_status(cudaGraphLaunch(exec, stream), cudaSuccess);
  std::vector<int> expected(32, 0);
  std::fill_n(expected.begin(), 16, 10);
  EXPECT_EQ(y.values(), expected);
  params.func = &params;
  expect_status(cudaGraphExecKernelNodeSetParams(exec, node, &params), cudaErrorInvalidValue);
  expect_status(cudaGraphExecDestroy(exec), cudaSuccess);
  expect_status(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(SimGraphTest, AMistakeOfAReplayIsNamed) {
  if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  const DeviceArray<int> x(16, 1), y(32, 0);
  begin();
  expect_status(launch_raw(scale_kernel, 1, 32, 0, stream, x, y, Scaling{2, 0}), cudaSuccess);
  cudaGraphExec_t exec = end();
  EXPECT_TRUE(take_findings().empty());
  expect_status(cudaGraphLaunch(exec, stream), cudaSuccess);
  expect_status(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  const std::vector<Finding> findings = take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Kind::out_of_bounds);
  expect_status(cudaGraphExecDestroy(exec), cudaSuccess);
}

// Memory of a caching allocator that a graph uses: in use only while the graph says so.
TEST_F(SimGraphTest, MemoryIsInUseAsOftenAsItIsReplayed) {
  if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  const DeviceArray<int> x(32, 1), middle(32), y(32, 0);
  begin();
  cuda::sim::mark_used(middle, 128, stream);
  expect_status(launch_raw(scale_kernel, 1, 32, 0, stream, x, middle, Scaling{2, 0}), cudaSuccess);
  expect_status(launch_raw(scale_kernel, 1, 32, 0, stream, middle, y, Scaling{3, 0}), cudaSuccess);
  cuda::sim::mark_unused(middle, stream);
  cudaGraphExec_t exec = end();
  for (int i = 0; i < 2; ++i) expect_status(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(y.values(), std::vector<int>(32, 6));
  expect_status(launch_raw(scale_kernel, 1, 32, 0, stream, middle, y, Scaling{3, 0}), cudaSuccess);
  const std::vector<Finding> findings = take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Kind::use_after_free);
  expect_status(cudaGraphExecDestroy(exec), cudaSuccess);
}

}  // namespace
}  // namespace gradus
