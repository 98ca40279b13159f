// The simulated runtime: devices, errors and launches, with the codes that CUDA's documentation
// gives for wrong use.
#include <functional>
#include <thread>

#include "tests/sim/runtime_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

__global__ void store_kernel(int* out, int value) { *out = value; }
__global__ void shared_kernel(int* out) {
  extern __shared__ int words[];
  words[0] = 3;
  *out = words[0];
}
__global__ void race_kernel(int* out) { *out = static_cast<int>(threadIdx.x); }
__global__ void wide_kernel(const char* x, int* out) {
  *out = *reinterpret_cast<const int*>(x + 1);
}

// --- Devices
TEST_F(SimRuntimeTest, ListsItsDevices) {
  int count = -1, version = 0, device = -1;
  expect_status(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, cuda::device_count());
  for (int i = 0; i < count; ++i) {
    expect_status(cudaSetDevice(i), cudaSuccess);
    expect_status(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, i);
    cudaDeviceProp properties{};
    expect_status(cudaGetDeviceProperties(&properties, i), cudaSuccess);
    EXPECT_CONTAINS(std::string(properties.name), "Simulated");
    EXPECT_EQ(properties.warpSize, 32);
    EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
    EXPECT_EQ(properties.sharedMemPerBlock, 48u << 10);
    EXPECT_EQ(properties.sharedMemPerBlockOptin, 227u << 10);
  }
  for (const auto version_of : {cudaDriverGetVersion, cudaRuntimeGetVersion}) {
    expect_status(version_of(&version), cudaSuccess);
    EXPECT_EQ(version, 13000);
  }
  int lowest = -9, highest = 9;
  expect_status(cudaDeviceGetStreamPriorityRange(&lowest, &highest), cudaSuccess);
  EXPECT_LT(highest, lowest) << "smaller numbers come first";
  expect_status(cudaDeviceGetStreamPriorityRange(nullptr, nullptr), cudaSuccess);
}

TEST_F(SimRuntimeTest, RefusesDevicesThatDoNotExist) {
  cudaDeviceProp properties{};
  int possible = 0;
  for (const int device : {-1, count_devices(), 1000}) {
    expect_status(cudaSetDevice(device), cudaErrorInvalidDevice);
    expect_status(cudaGetDeviceProperties(&properties, device), cudaErrorInvalidDevice);
    expect_status(cudaDeviceCanAccessPeer(&possible, 0, device), cudaErrorInvalidDevice);
    expect_status(cudaDeviceCanAccessPeer(&possible, device, 0), cudaErrorInvalidDevice);
    expect_status(cudaDeviceEnablePeerAccess(device, 0), cudaErrorInvalidDevice);
  }
  int device = -1;
  expect_status(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0) << "a refusal leaves the current device";
}

TEST_F(SimRuntimeTest, RefusesNullForAResult) {
  size_t bytes = 0;
  const char* name = nullptr;
  expect_status(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  expect_status(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  expect_status(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
  expect_status(cudaDriverGetVersion(nullptr), cudaErrorInvalidValue);
  expect_status(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  expect_status(cudaDeviceCanAccessPeer(nullptr, 0, 0), cudaErrorInvalidValue);
  expect_status(cudaMemGetInfo(nullptr, &bytes), cudaSuccess);  // may be left out
  expect_status(cudaMemGetInfo(&bytes, nullptr), cudaSuccess);
  expect_status(cudaPointerGetAttributes(nullptr, &bytes), cudaErrorInvalidValue);
  expect_status(cudaFuncGetName(nullptr, cuda::detail::handle(store_kernel)),
                cudaErrorInvalidValue);
  expect_status(cudaFuncGetName(&name, nullptr), cudaErrorInvalidDeviceFunction);
  expect_status(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  expect_status(cudaEventCreate(nullptr), cudaErrorInvalidValue);
}

// --- Errors
TEST_F(SimRuntimeTest, TheLastErrorStaysUntilItIsAskedFor) {
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice) << "a success does not clear it";
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice) << "nor does a look";
  std::thread([] {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "each thread has its own";
  }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(SimRuntimeTest, ErrorsHaveNamesAndTexts) {
  const auto expect = [](cudaError_t error, const char* name, const char* text) {
    EXPECT_STREQ(cudaGetErrorName(error), name);
    EXPECT_STREQ(cudaGetErrorString(error), text);
  };
  expect(cudaSuccess, "cudaSuccess", "no error");
  expect(cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument");
  expect(cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory");
  expect(cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
         "invalid configuration argument");
  expect(cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
         "invalid device function");
  expect(cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal");
  expect(cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
         "invalid resource handle");
  expect(cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
         "an illegal memory access was encountered");
  expect(cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
         "peer access is already enabled");
  expect(static_cast<cudaError_t>(1000), "unrecognized error code", "unrecognized error code");
}

using SimStickyErrorTest = SimFindingsTest;

// After a mistake of a kernel every later call fails, until take_findings().
TEST_F(SimStickyErrorTest, AFaultStaysUntilItIsTaken) {
  int *data = nullptr, *other = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 4), cudaSuccess);
  EXPECT_EQ(launch_raw(store_kernel, 1, 1, 0, nullptr, data + 1, 7), cudaSuccess)
      << "a launch does not wait for its kernel";
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);

  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  int value = 0;
  const std::function<cudaError_t()> calls[] = {
      [] { return cudaDeviceSynchronize(); },
      [] { return cudaStreamSynchronize(nullptr); },
      [] { return cudaStreamQuery(nullptr); },
      [&] { return cudaStreamCreate(&stream); },
      [&] { return cudaEventCreate(&event); },
      [&] { return cudaEventRecord(event); },
      [&] { return cudaMalloc(&other, 4); },
      [&] { return cudaHostAlloc(&other, 4, cudaHostAllocDefault); },
      [&] { return cudaMemcpy(&value, data, 4, cudaMemcpyDeviceToHost); },
      [&] { return cudaMemset(data, 0, 4); },
      [&] { return launch_raw(store_kernel, 1, 1, 0, nullptr, data, 7); },
      [&] { return cudaFree(data); },
  };
  for (const auto& call : calls) expect_status(call(), cudaErrorIllegalAddress);
  EXPECT_EQ(other, nullptr);
  EXPECT_CONTAINS(std::string(cudaGetErrorString(cudaErrorIllegalAddress)),
                  "illegal memory access was encountered\nout of bounds in ");
  EXPECT_CONTAINS(std::string(cudaGetErrorString(cudaErrorIllegalAddress)), "runtime_test.cu:");

  const std::vector<Finding> findings = take_findings();
  ASSERT_EQ(findings.size(), 1u) << text_of(findings);
  EXPECT_EQ(findings[0].kind, Kind::out_of_bounds);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress),
               "an illegal memory access was encountered");
  expect_status(cudaDeviceSynchronize(), cudaSuccess);
  expect_status(cudaFree(data), cudaErrorInvalidValue);  // it was given back, error or not
}

TEST_F(SimStickyErrorTest, EachKindOfFaultHasItsError) {
  const DeviceArray<int> out(1);
  const DeviceArray<char> x(8, 'x');
  launch(race_kernel, {1, 2}, out);
  expect_status(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(take_findings().at(0).kind, Kind::race);
  launch(wide_kernel, {1, 1}, x, out);
  expect_status(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  EXPECT_EQ(take_findings().at(0).kind, Kind::misaligned);
  expect_status(cudaDeviceSynchronize(), cudaSuccess);
}

// --- Launches
struct Launched {
  dim3 grid, block;
};

TEST_F(SimRuntimeTest, TakesTheLargestLaunchesOfAChip) {
  const DeviceArray<int> out(1, 0);
  const auto quiet = cuda::sim::checks() ? 1 : 0;  // the threads that store race
  for (const Launched& shape :
       {Launched{1, 1024}, Launched{1, {1, 1024}}, Launched{1, {16, 1, 64}},
        Launched{{1, 65535}, 1}, Launched{{1, 1, 65535}, 1}, Launched{70000, 1}}) {
    expect_status(launch_raw(store_kernel, shape.grid, shape.block, 0, nullptr, out, 5),
                  cudaSuccess);
    EXPECT_EQ(take_findings().size(), quiet);
    EXPECT_EQ(out.values()[0], 5);
    cudaMemset(out, 0, 4);
  }
}

// No kernel runs, and the device still works.
TEST_F(SimRuntimeTest, RefusesLaunchesThatAChipRefuses) {
  const DeviceArray<int> out(1, 0);
  const unsigned huge = 1u << 31;
  for (const Launched& shape :
       {Launched{1, 1025}, Launched{1, {1, 1025}}, Launched{1, {1, 1, 65}}, Launched{1, {41, 25}},
        Launched{1, {huge, huge, 4}}, Launched{{1, 65536}, 1}, Launched{{1, 1, 65536}, 1},
        Launched{huge, 1}, Launched{0, 1}, Launched{{1, 0}, 1}, Launched{{1, 1, 0}, 1},
        Launched{1, 0}, Launched{1, {1, 0}}, Launched{1, {1, 1, 0}}}) {
    expect_status(launch_raw(store_kernel, shape.grid, shape.block, 0, nullptr, out, 5),
                  cudaErrorInvalidConfiguration);
    const std::vector<Finding> findings = take_findings();
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, Kind::launch);
    EXPECT_CONTAINS(findings[0].kernel, "store_kernel");
  }
  EXPECT_EQ(out.values()[0], 0);
}

TEST_F(SimRuntimeTest, ARefusedLaunchIsNoStickyError) {
  const DeviceArray<int> out(1, 0);
  EXPECT_EQ(launch_raw(store_kernel, 1, 1025, 0, nullptr, out, 5), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch_raw(store_kernel, 1, 1, 0, nullptr, out, 5), cudaSuccess);
  EXPECT_EQ(out.values()[0], 5);
  const std::vector<Finding> findings = take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_CONTAINS(findings[0].message, "a block of 1025 x 1 x 1 threads; a chip takes 1024");
  EXPECT_CONTAINS(text_of(findings), "runtime_test.cu:");
}

TEST_F(SimRuntimeTest, MoreSharedMemoryMustBeAskedFor) {
  const DeviceArray<int> out(1, 0);
  const auto shared = [&](size_t nbytes) {
    return launch_raw(shared_kernel, 1, 1, nbytes, nullptr, out);
  };
  // Asked before the first launch, and of the function itself, as plain CUDA code does.
  const auto ask = [](int nbytes) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(shared_kernel),
                                cudaFuncAttributeMaxDynamicSharedMemorySize, nbytes);
  };
  expect_status(ask(48 << 10), cudaSuccess);
  expect_status(shared(48 << 10), cudaSuccess);
  EXPECT_EQ(out.values()[0], 3);
  EXPECT_TRUE(take_findings().empty());

  expect_status(shared((48 << 10) + 1), cudaErrorInvalidValue);
  const std::vector<Finding> findings = take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Kind::launch);
  EXPECT_CONTAINS(findings[0].message, "49153 bytes of dynamic shared memory");

  expect_status(ask(227 << 10), cudaSuccess);
  expect_status(shared(227 << 10), cudaSuccess);
  EXPECT_TRUE(take_findings().empty());
  for (const int nbytes : {-1, (227 << 10) + 1}) {
    expect_status(ask(nbytes), cudaErrorInvalidValue);
    EXPECT_EQ(take_findings().size(), 1u);
  }
  expect_status(shared((227 << 10) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(take_findings().size(), 1u);
}

TEST_F(SimRuntimeTest, LaunchesKernelsAlone) {
  static int no_kernel = 0;
  void* none[] = {nullptr};
  expect_status(cudaLaunchKernel(&no_kernel, 1, 1, none, 0, nullptr),
                cudaErrorInvalidDeviceFunction);
  const char* name = nullptr;
  expect_status(cudaFuncGetName(&name, cuda::detail::handle(store_kernel)), cudaSuccess);
  EXPECT_CONTAINS(std::string(name), "store_kernel");
}

}  // namespace
}  // namespace gradus
