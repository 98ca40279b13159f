// Pointers that a kernel may not follow, and memory that nobody gave back.
#include <array>

#include "gradus/cuda/runtime/context.h"
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

__global__ void fill(float* out, float value) { out[threadIdx.x] = value; }

__global__ void host_pointer(const float* x, float* out) {
  out[threadIdx.x] = 2 * x[threadIdx.x];  // BUG host_pointer
}
const Plant host_pointer_bug("host_pointer", "foreign_memory", [] {
  const std::vector<float> x(128, 1.f);
  const Buffer<float> out(128);
  launch(host_pointer, {1, 128}, x.data(), out);
  cudaDeviceSynchronize();
});

__global__ void memory_of_another_device(const float* x, float* out) {
  out[threadIdx.x] = 2 * x[threadIdx.x];  // BUG memory_of_another_device
}
const Plant memory_of_another_device_bug("memory_of_another_device", "foreign_memory", [] {
  cuda::check_cuda(cudaSetDevice(1), "a second device");
  const Buffer<float> x(128, 1.f);
  cudaSetDevice(0);
  const Buffer<float> out(128);
  launch(memory_of_another_device, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

__global__ void use_after_free(const float* x, float* out) {
  out[threadIdx.x] = 2 * x[threadIdx.x];  // BUG use_after_free
}
const Plant use_after_free_bug("use_after_free", "use_after_free", [] {
  const float* stale = nullptr;
  {
    const Buffer<float> x(128, 1.f);
    stale = x;
  }
  const Buffer<float> out(128);
  launch(use_after_free, {1, 128}, stale, out);
  cudaDeviceSynchronize();
});

// The cache keeps the memory for whoever asks next; for CUDA it was never free.
__global__ void use_after_scratch(const float* x, float* out) {
  out[threadIdx.x] = 2 * x[threadIdx.x];  // BUG use_after_scratch
}
const Plant use_after_scratch_bug("use_after_scratch", "use_after_free", [] {
  const float* stale = nullptr;
  {
    const cuda::Scratch temporary(128 * sizeof(float));
    launch(fill, {1, 128}, temporary.as<float>(), 1.f);
    stale = temporary.as<float>();
  }
  const Buffer<float> out(128);
  launch(use_after_scratch, {1, 128}, stale, out);
  cudaDeviceSynchronize();
});

// The row starts one float after a 16-byte boundary.
__global__ void misaligned_float4(const float* x, float4* out) {
  const unsigned i = threadIdx.x;
  out[i] = reinterpret_cast<const float4*>(x + 1)[i];  // BUG misaligned_float4
}
const Plant misaligned_float4_bug("misaligned_float4", "misaligned", [] {
  const Buffer<float> x(129, 1.f);
  const Buffer<float4> out(32);
  launch(misaligned_float4, {1, 32}, x, out);
  cudaDeviceSynchronize();
});

// Rows of 30 floats: every other row starts 8 bytes past a boundary.
__global__ void misaligned_rows(const float* x, float* out) {
  const float4 first = reinterpret_cast<const float4&>(x[30 * threadIdx.x]);  // BUG misaligned_rows
  out[threadIdx.x] = first.x + first.y + first.z + first.w;
}
const Plant misaligned_rows_bug("misaligned_rows", "misaligned", [] {
  const Buffer<float> x(30 * 32, 1.f), out(32);
  launch(misaligned_rows, {1, 32}, x, out);
  cudaDeviceSynchronize();
});

// A header, then doubles, in one array of bytes: a header of 4 bytes is too short.
__global__ void misaligned_double(const double* x, double* out, int header) {
  __shared__ __align__(16) unsigned char bytes[16 + 32 * sizeof(double)];
  auto* values = reinterpret_cast<double*>(bytes + header);
  values[threadIdx.x] = x[threadIdx.x];  // BUG misaligned_double
  __syncthreads();
  out[threadIdx.x] = values[31 - threadIdx.x];  // BUG misaligned_double
}
const Plant misaligned_double_bug("misaligned_double", "misaligned", [] {
  const Buffer<double> x(32, 1.), out(32);
  launch(misaligned_double, {1, 32}, x, out, 4);
  cudaDeviceSynchronize();
});

// Records of 6 bytes: two of a tag, four of a value.
__global__ void packed_records(const unsigned char* records, int* out) {
  const unsigned i = threadIdx.x;
  out[i] = *reinterpret_cast<const int*>(records + 6 * i + 2);  // BUG packed_records
}
const Plant packed_records_bug("packed_records", "misaligned", [] {
  const Buffer<unsigned char> records(6 * 64, 1);
  const Buffer<int> out(64);
  launch(packed_records, {1, 64}, records, out);
  cudaDeviceSynchronize();
});

const Plant leak_each_step("leak_each_step", "leak", [] {
  for (int step = 0; step < 3; ++step) {
    float* activations = nullptr;
    cudaMalloc(&activations, 1000 * sizeof(float));  // BUG leak_each_step
    launch(fill, {1, 1000}, activations, 1.f);
    cudaDeviceSynchronize();
  }
});

// Gives back the first of two.
const Plant leak_on_early_return("leak_on_early_return", "leak", [] {
  const std::array<float, 128> ones{1.f};
  float *x = nullptr, *out = nullptr;
  cudaMalloc(&x, sizeof(ones));
  cudaMalloc(&out, sizeof(ones));  // BUG leak_on_early_return
  launch(fill, {1, 128}, out, 1.f);
  if (cudaMemcpy(x, ones.data(), sizeof(ones), cudaMemcpyHostToDevice) == cudaSuccess) {
    cudaFree(x);
    return;
  }
  cudaFree(out);
});

}  // namespace
}  // namespace gradus::planted
