// Streams, events and peers of the simulated runtime. What may cross from one device to another is
// what the CUDA Programming Guide says of several devices.

#include "tests/sim/runtime_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

using SimStreamTest = SimRuntimeTest;

__global__ void fill_kernel(int* out, int value) { out[threadIdx.x] = value; }
__global__ void copy_row_kernel(const int* x, int* out) { out[threadIdx.x] = x[threadIdx.x]; }

TEST_F(SimStreamTest, WorkOnAStreamIsDoneWhenItIsQueued) {
  cudaStream_t stream = nullptr;
  for (const auto create :
       {+[](cudaStream_t* out) { return cudaStreamCreate(out); },
        +[](cudaStream_t* out) { return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking); },
        +[](cudaStream_t* out) {
          return cudaStreamCreateWithPriority(out, cudaStreamNonBlocking, -1);
        }}) {
    expect_status(create(&stream), cudaSuccess);
    const DeviceArray<int> x(32), out(32);
    std::vector<int> values(32);
    expect_status(cudaMemsetAsync(x, 0, 128, stream), cudaSuccess);
    expect_status(launch_raw(fill_kernel, 1, 32, 0, stream, x, 9), cudaSuccess);
    expect_status(cudaMemcpyAsync(out, x, 128, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
    expect_status(cudaMemcpyAsync(values.data(), out, 128, cudaMemcpyDeviceToHost, stream),
                  cudaSuccess);
    expect_status(cudaStreamQuery(stream), cudaSuccess);
    expect_status(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(values, std::vector<int>(32, 9));
    expect_status(cudaStreamDestroy(stream), cudaSuccess);
  }
}

TEST_F(SimStreamTest, RefusesADestroyedStream) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  const DeviceArray<int> x(32, 1);
  expect_status(cudaStreamDestroy(stream), cudaSuccess);
  const auto expect_refused = [](cudaError_t status) {
    expect_status(status, cudaErrorInvalidResourceHandle);
  };
  expect_refused(cudaStreamDestroy(stream));
  expect_refused(cudaStreamDestroy(nullptr));
  expect_refused(cudaStreamSynchronize(stream));
  expect_refused(cudaStreamQuery(stream));
  expect_refused(cudaStreamWaitEvent(stream, event));
  expect_refused(cudaEventRecord(event, stream));
  expect_refused(cudaMemsetAsync(x, 0, 128, stream));
  expect_refused(cudaMemcpyAsync(x, x, 128, cudaMemcpyDeviceToDevice, stream));
  expect_refused(cudaMemcpyPeerAsync(x, 0, x, 0, 128, stream));
  expect_refused(launch_raw(fill_kernel, 1, 32, 0, stream, x, 9));
  EXPECT_EQ(x.values()[0], 1) << "nothing was done";
  expect_status(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(SimStreamTest, EventsTellTime) {
  cudaEvent_t start = nullptr, end = nullptr, quiet = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&end, cudaEventDefault), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&quiet, cudaEventDisableTiming), cudaSuccess);
  float ms = -1, back = 1;
  expect_status(cudaEventQuery(start), cudaSuccess);  // nothing was recorded: nothing to wait for
  expect_status(cudaEventSynchronize(start), cudaSuccess);
  expect_status(cudaEventRecord(start), cudaSuccess);
  expect_status(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
  expect_status(cudaEventRecord(end), cudaSuccess);
  expect_status(cudaEventRecord(quiet), cudaSuccess);
  expect_status(cudaStreamWaitEvent(nullptr, end), cudaSuccess);
  expect_status(cudaEventElapsedTime(&ms, start, end), cudaSuccess);
  expect_status(cudaEventElapsedTime(&back, end, start), cudaSuccess);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(back, -ms);
  expect_status(cudaEventElapsedTime(nullptr, start, end), cudaErrorInvalidValue);
  expect_status(cudaEventElapsedTime(&ms, start, quiet), cudaErrorInvalidResourceHandle);

  expect_status(cudaEventDestroy(end), cudaSuccess);
  const auto expect_refused = [](cudaError_t status) {
    expect_status(status, cudaErrorInvalidResourceHandle);
  };
  for (const cudaEvent_t event : {end, cudaEvent_t{}}) {
    expect_refused(cudaEventDestroy(event));
    expect_refused(cudaEventRecord(event));
    expect_refused(cudaEventQuery(event));
    expect_refused(cudaEventSynchronize(event));
    expect_refused(cudaStreamWaitEvent(nullptr, event));
    expect_refused(cudaEventElapsedTime(&ms, start, event));
  }
  expect_status(cudaEventDestroy(start), cudaSuccess);
  expect_status(cudaEventDestroy(quiet), cudaSuccess);
}

class SimDevicesTest : public SimRuntimeTest {
 protected:
  void SetUp() override {
    SimRuntimeTest::SetUp();
    if (count_devices() < 4) GTEST_SKIP() << "needs 4 devices";
  }
};

TEST_F(SimDevicesTest, StreamsAndEventsBelongToADevice) {
  cudaStream_t stream = nullptr;
  cudaEvent_t here = nullptr, there = nullptr;
  ASSERT_EQ(cudaEventCreate(&here), cudaSuccess);
  const DeviceArray<int> x(32, 1);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&there), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);

  expect_status(launch_raw(fill_kernel, 1, 32, 0, stream, x, 9), cudaErrorInvalidResourceHandle);
  expect_status(cudaEventRecord(here, stream), cudaErrorInvalidResourceHandle);
  expect_status(cudaEventRecord(there), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(x.values()[0], 1);
  // A stream may be waited for, and take copies, whichever device is current.
  expect_status(cudaEventRecord(here), cudaSuccess);
  expect_status(cudaEventRecord(there, stream), cudaSuccess);
  expect_status(cudaEventQuery(there), cudaSuccess);
  expect_status(cudaEventSynchronize(there), cudaSuccess);
  expect_status(cudaStreamWaitEvent(stream, here), cudaSuccess);
  expect_status(cudaStreamWaitEvent(nullptr, there), cudaSuccess);
  expect_status(cudaStreamSynchronize(stream), cudaSuccess);
  expect_status(cudaMemcpyAsync(x, x, 128, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  float ms = 0;
  expect_status(cudaEventElapsedTime(&ms, here, there), cudaErrorInvalidResourceHandle);
  expect_status(cudaEventDestroy(here), cudaSuccess);
  expect_status(cudaEventDestroy(there), cudaSuccess);
  expect_status(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(SimDevicesTest, KernelsReachThePeersThatWereEnabled) {
  static bool first = true;
  if (!std::exchange(first, false)) GTEST_SKIP() << "peer access stays for the whole process";
  int possible = -1;
  expect_status(cudaDeviceCanAccessPeer(&possible, 2, 3), cudaSuccess);
  EXPECT_EQ(possible, 1);
  expect_status(cudaDeviceCanAccessPeer(&possible, 2, 2), cudaSuccess);
  EXPECT_EQ(possible, 0) << "no peer of itself";
  ASSERT_EQ(cudaSetDevice(3), cudaSuccess);
  const DeviceArray<int> x(32, 5);
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  const DeviceArray<int> out(32, 0);

  if (cuda::sim::checks()) {
    launch(copy_row_kernel, {1, 32}, x, out);
    const std::vector<Finding> findings = take_findings();
    ASSERT_EQ(findings.size(), 1u) << text_of(findings);
    EXPECT_EQ(findings[0].kind, Kind::foreign_memory);
    EXPECT_CONTAINS(findings[0].message,
                    "the address belongs to cuda:3, the kernel runs on cuda:2 without peer access");
    EXPECT_EQ(findings[0].times, 32);
    EXPECT_EQ(out.values()[0], 0);
  }
  expect_status(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
  expect_status(cudaDeviceEnablePeerAccess(3, 1), cudaErrorInvalidValue);
  expect_status(cudaDeviceEnablePeerAccess(3, 0), cudaSuccess);
  expect_status(cudaDeviceEnablePeerAccess(3, 0), cudaErrorPeerAccessAlreadyEnabled);
  launch(copy_row_kernel, {1, 32}, x, out);
  EXPECT_TRUE(take_findings().empty());
  EXPECT_EQ(out.values(), std::vector<int>(32, 5));
  if (!cuda::sim::checks()) return;
  // In one direction only.
  ASSERT_EQ(cudaSetDevice(3), cudaSuccess);
  launch(copy_row_kernel, {1, 32}, out, x);
  EXPECT_EQ(take_findings().at(0).kind, Kind::foreign_memory);
}

TEST_F(SimDevicesTest, CopiesNeedNoPeerAccess) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const DeviceArray<int> x(std::vector<int>{1, 2, 3, 4});
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const DeviceArray<int> out(4, 0);
  cudaPointerAttributes owner{};
  expect_status(cudaPointerGetAttributes(&owner, x), cudaSuccess);
  EXPECT_EQ(owner.device, 1);
  expect_status(cudaMemcpyPeer(out, 0, x, 1, 8), cudaSuccess);
  EXPECT_EQ(out.values(), (std::vector<int>{1, 2, 0, 0}));
  expect_status(cudaMemcpyPeerAsync(out + 2, 0, x, 1, 8), cudaSuccess);
  EXPECT_EQ(out.values(), (std::vector<int>{1, 2, 1, 2}));
  expect_status(cudaMemcpy(out, x + 2, 8, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(out.values(), (std::vector<int>{3, 4, 1, 2}));
  expect_status(cudaMemcpyPeer(out, 0, x, count_devices(), 8), cudaErrorInvalidDevice);
  expect_status(cudaMemcpyPeer(out, -1, x, 1, 8), cudaErrorInvalidDevice);
  expect_status(cudaMemcpyPeer(out, 0, x, 1, 17), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace gradus
