// Kernels that are launched before the one before them has ended.
#include "gradus/cuda/kernels/pdl.cuh"
#include "tests/sim/runtime_test.h"

namespace gradus {
namespace {

using cuda::launch_pdl, cuda::sim::Kind, cuda::sim::take_findings;
using SimEarlyTest = SimRuntimeTest;

__global__ void waiting_kernel(const int* x, int* out) {
  cuda::wait_for_earlier_kernels();
  out[threadIdx.x] = x[threadIdx.x] + 1;
}

constexpr int kHastyLine = __LINE__ + 3;
__global__ void hasty_kernel(const int* x, int* out) {
  __shared__ int copy[4];
  copy[threadIdx.x] = threadIdx.x > 0 ? x[threadIdx.x] : 0;
  cuda::wait_for_earlier_kernels();
  out[threadIdx.x] = copy[threadIdx.x] + 1;
}

TEST_F(SimEarlyTest, AKernelWaitsForTheOneBefore) {
  const DeviceArray<int> x(4, 0), out(4, 0);
  launch_pdl(waiting_kernel, {1, 4}, x, out);
  launch_pdl(waiting_kernel, {1, 4}, out, x);
  EXPECT_EQ(x.values(), std::vector(4, 2));
}

TEST_F(SimEarlyTest, AnAccessBeforeTheWaitIsFound) {
  const DeviceArray<int> x(4, 0), out(4, 0);
  launch_pdl(hasty_kernel, {1, 4}, x, out);
  const auto found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::race);
  EXPECT_EQ(found[0].times, 3);
  EXPECT_EQ(found[0].sides.at(0).thread.x, 1u);
  EXPECT_EQ(found[0].sides[0].frames.at(0).line, kHastyLine);
  EXPECT_EQ(found[0].message,
            "the kernel was launched so that it may start before the one before it has ended, and "
            "this thread has not waited for that; let every thread call "
            "wait_for_earlier_kernels(), or CUDA's cudaGridDependencySynchronize(), first");
}

TEST_F(SimEarlyTest, OtherLaunchesNeedNotWait) {
  const DeviceArray<int> x(4, 0), out(4, 0);
  launch(hasty_kernel, {1, 4}, x, out);
  EXPECT_EQ(out.values(), std::vector(4, 1));
}

TEST_F(SimEarlyTest, AnAccessInAReplayIsFound) {
  const DeviceArray<int> x(4, 0), out(4, 0);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  launch_pdl(hasty_kernel, {1, 4, 0, stream}, x, out);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph), cudaSuccess);
  EXPECT_TRUE(take_findings().empty());
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(take_findings().size(), 1u);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST_F(SimEarlyTest, WhatCudaLaunchKernelExCRefuses) {
  const DeviceArray<int> x(4, 0), out(4, 0);
  const int* from = x;
  int* to = out;
  void* args[] = {&from, &to, nullptr};
  const void* const kernel = cuda::detail::handle(waiting_kernel);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, kernel, args), cudaErrorInvalidValue);
  cudaLaunchAttribute attribute{};
  attribute.id = static_cast<cudaLaunchAttributeID>(4);
  const cudaLaunchConfig_t unknown{1, 4, 0, nullptr, &attribute, 1};
  EXPECT_EQ(cudaLaunchKernelExC(&unknown, kernel, args), cudaErrorInvalidValue);
  const cudaLaunchConfig_t missing{1, 4, 0, nullptr, nullptr, 1};
  EXPECT_EQ(cudaLaunchKernelExC(&missing, kernel, args), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(out.values(), std::vector(4, 0));
}

}  // namespace
}  // namespace gradus
