// RawKernel and RawModule: values, arguments of all types, and the errors of wrong ones.
#include "gradus/cuda/rtc/raw_kernel.h"

#include "gradus/tensor/base/warning.h"
#include "tests/cuda/rtc/rtc_test.h"
#ifdef GRADUS_SIMULATED
#include "gradus/cuda/sim/simulator.h"
#endif

namespace gradus {
namespace {

using cuda::RawKernel;
using cuda::RawModule;

constexpr int kAccess = __LINE__ + 5;  // of axpy
const RawKernel& axpy() {
  static const RawKernel once(R"(
extern "C" __global__ void axpy(const float* x, float* y, int n, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
})",
                              "axpy");
  return once;
}

TEST_F(Rtc, ARawKernelComputes) {
  for (const int64_t n : {1, 31, 256, 1000}) {
    const Tensor x = randn({n}, kCUDA), y = randn({n}, kCUDA), expected = y + 2.5 * x;
    axpy()({(n + 255) / 256}, {256}, {x, y, n, 2.5});
    // A GPU rounds a * x + y once, and the sum may be near 0.
    EXPECT_TRUE(y.allclose(expected, 1e-5, 1e-6)) << n;
  }
}

TEST_F(Rtc, ARawKernelTakesNumbersOfEveryType) {
  const RawKernel numbers(R"(
#include <cuda_fp16.h>
__global__ void numbers(double* out, bool a, signed char b, unsigned char c, short d, unsigned e,
                        int64_t f, size_t g, float h, double i, __half j) {
  const double all[] = {double(a), double(b), double(c), double(d), double(e), double(f), double(g),
                        double(h), double(i), double(__half2float(j))};
  for (int k = 0; k < 10; ++k) out[k] = all[k];
})",
                          "numbers");
  const Tensor out = zeros({10}, TensorOptions(kCUDA).dtype(kDouble));
  numbers(1, 1,
          {out, true, -3, 200, -30000, 4000000000u, int64_t{-1} << 40, 5, 1.5, 0.1, Half(2.5f)});
  const Tensor expected =
      tensor({1., -3., 200., -30000., 4e9, -1099511627776., 5., 1.5, 0.1, 2.5}, kDouble);
  EXPECT_TRUE(out.cpu().equal(expected)) << out.cpu();
}

TEST_F(Rtc, ARawKernelUsesDynamicSharedMemoryAndItsDevice) {
  const RawKernel reverse(R"(
__global__ void reverse(const int64_t* in, int64_t* out) {
  extern __shared__ int64_t tile[];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
})",
                          "reverse");
  const Device last(kCUDA, static_cast<DeviceIndex>(cuda::device_count() - 1));
  const Tensor in = arange(64, last), out = empty_like(in);
  const int before = cuda::current_device();
  reverse(1, 64, {in, out}, 64 * sizeof(int64_t));
  EXPECT_EQ(cuda::current_device(), before);
  EXPECT_TRUE(out.equal(in.flip({0})));
}

TEST_F(Rtc, ARawKernelCallsWhatNoKernelOfTheLibraryDoes) {
  const RawKernel normal(R"(
__global__ void normal(double* x) { x[threadIdx.x] = normcdf(x[threadIdx.x]); })",
                         "normal");
  const Tensor x = zeros({2}, TensorOptions(kCUDA).dtype(kDouble));
  normal(1, 2, {x});
  EXPECT_EQ(x[1].item<double>(), 0.5);
}

TEST_F(Rtc, AModulesFunctionsShareItsVariables) {
  const RawModule module(R"(
__device__ float kept;
__global__ void keep(float value) { kept = value; }
template <class T> __global__ void give(T* out, T factor) { out[0] = kept * factor; })",
                         {}, {"give<double>"});
  const Tensor out = zeros({1}, TensorOptions(kCUDA).dtype(kDouble));
  module.get_function("keep")(1, 1, {3});
  module.get_function("give<double>")(1, 1, {out, 2.0});
  EXPECT_EQ(out.item<double>(), 6);
  EXPECT_CONTAINS(message_of<ValueError>([&] { module.get_function("give<float>"); }),
                  "it has no kernel 'give<float>'; it has: give<double>, keep");
}

TEST_F(Rtc, WrongArgumentsAreNamed) {
  const Tensor x = zeros({4}, kCUDA), y = zeros({4}, kCUDA);
  const auto said = [&]<class E>(ArrayRef<cuda::Argument> arguments) {
    return message_of<E>([&] { axpy()(1, 32, arguments); });
  };
#define EXPECT_SAID(E, part, ...) EXPECT_CONTAINS(said.template operator()<E>(__VA_ARGS__), part)
  EXPECT_SAID(TypeError, "axpy takes 4 arguments, and got 2", {x, y});
  EXPECT_SAID(TypeError,
              "axpy: argument 1 (const float* x) is a tensor of float64; expected float32; "
              "convert it with .to(kFloat)",
              {x.to(kDouble), y, 4, 1});
  EXPECT_SAID(TypeError, "argument 2 (float* y) is a number of type int32_t; expected a tensor",
              {x, 3, 4, 1});
  EXPECT_SAID(TypeError, "argument 3 (int n) is a tensor of float32; expected a number",
              {x, y, y, 1});
  EXPECT_SAID(TypeError, "argument 3 (int n) is a number of type double; expected an integer",
              {x, y, 4.0, 1});
  EXPECT_SAID(ValueError, "argument 3 (int n) is 4294967296, which int does not hold",
              {x, y, int64_t{1} << 32, 1});
  EXPECT_SAID(ValueError, "argument 2 (float* y) is on the CPU; move it to a GPU with .to(kCUDA)",
              {x, y.cpu(), 4, 1});
  if (cuda::device_count() > 1) {
    EXPECT_SAID(ValueError, "is on cuda:1, and the first tensor on cuda:0",
                {x, y.to(Device(kCUDA, 1)), 4, 1});
  }
  EXPECT_CONTAINS(message_of<ValueError>([&] {
                    axpy()(-1, 32, {x, y, 4, 1});
                  }),
                  "axpy: the grid has a size of -1");
  EXPECT_CONTAINS(message_of<ValueError>([] { RawKernel("__global__ void f() {}", "g"); }),
                  "has no kernel 'g'; it has: f");
  EXPECT_TRUE(y.eq(0).all().item<bool>());
}

TEST_F(Rtc, AutogradLearnsOfWrites) {
  const Tensor x = ones({4}, kCUDA), y = ones({4}, kCUDA);
  const uint32_t of_x = x._version(), of_y = y._version();
  axpy()(1, 32, {x, y, 4, 1});
  EXPECT_EQ(x._version(), of_x);
  EXPECT_GT(y._version(), of_y);
  const Tensor w = ones({4}, kCUDA).requires_grad_(), product = w * y;
  axpy()(1, 32, {x, y, 4, 1});
  EXPECT_THROW(product.sum().backward(), Error);

  EXPECT_CONTAINS(message_of<Error>([&] {
                    axpy()(1, 32, {w, y, 4, 1});
                  }),
                  "argument 1 (const float* x) requires grad");
  const NoGradGuard guard;
  axpy()(1, 32, {w, y, 4, 1});
  EXPECT_EQ(y[0].item<float>(), 4);
}

TEST_F(Rtc, LaunchesThatLeaveAGpuIdleAreWarnedOf) {
  struct Handler : WarningHandler {
    void process(const SourceLocation&, const std::string& message, bool) override {
      said += message + "\n";
    }
    std::string said;
  } handler;
  Warning::set_warning_handler(&handler);
  const RawKernel nothing(cuda::Source(own_text("__global__ void nothing() {}")), "nothing");
  setenv("GRADUS_WARN_OCCUPANCY", "0", 1);
  nothing(1, 33);
  EXPECT_EQ(handler.said, "");
  setenv("GRADUS_WARN_OCCUPANCY", "1", 1);
  nothing(1, 33);
  nothing(1, 33);
  const std::string all = std::to_string(cuda::getDeviceProperties(0).multiprocessors);
  EXPECT_CONTAINS(handler.said, "nothing: a grid of 1 blocks leaves ");
  EXPECT_CONTAINS(handler.said, " of the " + all + " multiprocessors idle");
  EXPECT_CONTAINS(handler.said,
                  "nothing: a block of 33 threads leaves lanes of its last warp idle");
  EXPECT_EQ(std::count(handler.said.begin(), handler.said.end(), '\n'), 2);
  handler.said.clear();
  axpy()(1000, 32, {zeros({4}, kCUDA), zeros({4}, kCUDA), 4, 1});
  EXPECT_EQ(handler.said, "");
  // By default the first kernel of the process is warned of, if no other test had it.
  unsetenv("GRADUS_WARN_OCCUPANCY");
  const RawKernel other(cuda::Source(own_text("__global__ void other() {}")), "other");
  nothing(1, 33);
  EXPECT_LE(std::count(handler.said.begin(), handler.said.end(), '\n'), 2);
  handler.said.clear();
  other(1, 33);
  EXPECT_EQ(handler.said, "");
  Warning::set_warning_handler(nullptr);
}

#ifdef GRADUS_SIMULATED
TEST_F(Rtc, AnAccessOutOfBoundsNamesKernelAndLine) {
  const Tensor x = zeros({4}, kCUDA), y = zeros({4}, kCUDA);
  cuda::sim::take_findings();
  axpy()(1, 32, {x, y, 5, 1});
  const auto findings = cuda::sim::take_findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kernel, "axpy");
  EXPECT_EQ(findings[0].sides[0].frames.back().line, kAccess);
  EXPECT_CONTAINS(findings[0].sides[0].frames.back().file, "raw_kernel_test.cpp");
}
#endif

}  // namespace
}  // namespace gradus
