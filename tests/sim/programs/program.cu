// Tests that need a whole process: the environment, and the report at its end. check.sh runs it as
// `sim_program MODE`, and looks for the lines with a name.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "gradus/cuda/runtime/launch.h"
#include "gradus/cuda/sim/simulator.h"
#include "gradus/gradus.h"

using namespace gradus;

namespace programs {

__global__ void double_kernel(const float* x, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 2 * x[i];  // LINE access
}

void compute() {
  const Tensor x = arange(1000, kFloat).to(kCUDA), out = empty({1000}, kCUDA);
  cuda::launch(double_kernel, {4, 256}, x.data_ptr<float>(), out.data_ptr<float>(), 1000);
  std::printf("sum %.0f\n", out.sum().item<double>());
}

// The launch takes the arrays for one longer than they are.
void launch_wrong() {
  float *x = nullptr, *out = nullptr;
  cudaMalloc(&x, 64);  // LINE made
  cudaMalloc(&out, 64);
  cudaMemset(x, 0, 64);
  cuda::launch(double_kernel, {1, 32}, x, out, 17);
  cudaFree(x);
  cudaFree(out);
}

// Where a seed is given, its stream holds some of it until the program ends: the last launch at
// least, which takes the arrays for `last` elements.
void launch_late(int last) {
  static const Tensor x = ones({16}, kCUDA), out = zeros({16}, kCUDA);
  for (int i = 0; i < 20; ++i)
    cuda::launch(double_kernel, {1, 32}, x.data_ptr<float>(), out.data_ptr<float>(),
                 i < 19 ? 16 : last);
}

void leak() {
  float* lost = nullptr;
  cudaMalloc(&lost, 400);  // LINE lost
}

// Calls itself until its stack is full.
__device__ int call_again(int n, volatile int* sum) {
  volatile int some[100];
  some[n % 100] = *sum;
  *sum = n == 0 ? 0 : call_again(n - 1, sum) + some[n % 100];  // LINE deeper
  return *sum;
}
__global__ void deep_kernel(int* out, int n) {
  volatile int sum = 1;
  *out = call_again(n, &sum);
}
void launch_deep() {
  int* out = nullptr;
  cudaMalloc(&out, sizeof(int));
  cuda::launch(deep_kernel, {1, 1}, out, 1000000);
}

__global__ void wild_kernel(float* x) {
  x[threadIdx.x] = 1;  // LINE wild
}

__global__ void endless_kernel(const int* x, int* out, int at) {
  for (unsigned i = 0; x[0] + at != 0; ++i) out[i % 2] = at;  // LINE endless
}
__global__ void silent_kernel(unsigned* out, unsigned x) {
  while (x != 0) x = x * 3 + (x & 1);  // LINE silent
  *out = x;
}
void launch_endless(bool silent) {
  int *x = nullptr, *out = nullptr;
  cudaMalloc(&x, sizeof(int));
  cudaMalloc(&out, 2 * sizeof(int));
  cudaMemset(x, 0, sizeof(int));
  if (silent)
    cuda::launch(silent_kernel, {1, 1}, reinterpret_cast<unsigned*>(out), 1u);
  else
    cuda::launch(endless_kernel, {1, 1}, x, out, 1);
  cudaFree(x);
  cudaFree(out);
}

// A program's own handler deals with its faults.
void end_well(int) { std::_Exit(7); }
void fail_on_the_host() {
  std::signal(SIGSEGV, end_well);
  compute();
  std::fflush(stdout);
  *reinterpret_cast<volatile int*>(8) = 1;
}

Tensor global_tensor;
thread_local Tensor tensor_of_thread;
void keep_tensors() {
  static const Tensor local = ones({10}, kCUDA);
  global_tensor = local + 1;
  tensor_of_thread = local + 2;
}

void try_devices() {
  std::printf("%d devices\n", static_cast<int>(cuda::device_count()));
  std::printf("%s\n", cuda::why_unavailable().c_str());
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, 4);
  cudaFree(memory);
  std::printf("cudaMalloc: %s (%s)\n", cudaGetErrorName(status), cudaGetErrorString(status));
}

int run(std::string_view mode) {
  if (mode == "devices") try_devices();
  compute();
  if (mode == "static") keep_tensors();
  if (mode == "leak" || mode == "status") leak();
  if (mode == "wrong" || mode == "told" || mode == "taken") launch_wrong();
  if (mode == "late") launch_late(16);
  if (mode == "late_wrong") launch_late(17);
  if (mode == "deep") launch_deep();
  if (mode == "null") cuda::launch(wild_kernel, {1, 32}, nullptr);
  if (mode == "endless" || mode == "silent") launch_endless(mode == "silent");
  if (mode == "host") fail_on_the_host();
  if (mode == "told") cuda::synchronize();
  if (mode == "taken") std::printf("taken %zu\n", cuda::sim::take_findings().size());
  return mode == "status" ? 3 : 0;
}

}  // namespace programs

int main(int, char** args) {
  try {
    return programs::run(args[1]);
  } catch (const Error& error) {
    std::printf("error: %s\n", error.what());
    return 2;
  }
}
