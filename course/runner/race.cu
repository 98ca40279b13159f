// The race of task 6.4 on a GPU: times calls of course::gpu::RACER, a matrix product, each on new numbers, and checks
// each result. Compiled by nvcc, once for each racer.
#include <stdexcept>

#include "core/cuda.h"
#include "core/extra.h"
#include "core/launch.h"
#include "runner/runner.h"

namespace {

using course::ceil_div;
using course::check;
using course::launch;

void call(void (*product)(float*, const float*, const float*, int, int, int), float* c, const float* a, const float* b,
          int m, int n, int k) {
  product(c, a, b, m, n, k);
}
void call(void (*product)(float*, const course::Mat&, const course::Mat&, int, int, int), float* c, const float* a,
          const float* b, int m, int n, int k) {
  product(c, {a, k, 1}, {b, n, 1}, m, n, k);
}

template <class T>
struct Array {
  explicit Array(long size) : size(size) { check(cudaMalloc(&data, static_cast<size_t>(size) * sizeof(T)), "cudaMalloc"); }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  size_t bytes() const { return static_cast<size_t>(size) * sizeof(T); }
  T* data = nullptr;
  long size;
};

// Random whole numbers from -high to high; the same for the same seed.
template <class T>
__global__ void draw_kernel(T* out, long n, unsigned long seed, long high) {
  for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += gridDim.x * 256L) {
    unsigned long x = seed + static_cast<unsigned long>(i) * 0x9e3779b97f4a7c15UL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9UL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebUL;
    x ^= x >> 31;
    out[i] = static_cast<T>(static_cast<long>(x % static_cast<unsigned long>(2 * high + 1)) - high);
  }
}
template <class T>
void draw(const Array<T>& out, unsigned long seed, long high) {
  launch(draw_kernel<T>, {dim3(1024), dim3(256)}, out.data, out.size, seed, high);
}

// out = matrix vector, a warp for each row. Whole numbers below 2^53 are exact.
template <class T>
__global__ void times_vector_kernel(double* out, const T* matrix, const double* vector, long rows, long columns) {
  const long row = blockIdx.x * 8L + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  double sum = 0;
  for (long j = lane; j < columns; j += 32) sum += static_cast<double>(matrix[row * columns + j]) * vector[j];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) out[row] = sum;
}
void times_vector(const Array<double>& out, const Array<float>& matrix, const Array<double>& vector) {
  launch(times_vector_kernel<float>, {dim3(ceil_div(out.size, 8)), dim3(256)}, out.data, matrix.data, vector.data, out.size,
         vector.size);
}

std::vector<double> host(const Array<double>& from) {
  std::vector<double> out(static_cast<size_t>(from.size));
  check(cudaMemcpy(out.data(), from.data, from.bytes(), cudaMemcpyDeviceToHost), "copy from the device");
  return out;
}

}  // namespace

// The sums of products stay far below 2^24, so c is exact in whatever order they are summed. 12 bits of a are more than
// half precision and TF32 keep. By Freivalds' check, c v = a (b v) for a random v; c has no part in choosing it.
void run(const Message& in, Message& out) {
  const long m = in.number("m"), n = in.number("n"), k = in.number("k");
  const auto seed = static_cast<unsigned long>(in.number("seed"));
  const Array<float> a(m * k), b(k * n), c(m * n), seen(m * n);
  const Array<double> v(n), bv(k), abv(m), cv(m);
  const auto inputs = [&](unsigned long run) { draw(a, seed + 2 * run, 4095), draw(b, seed + 2 * run + 1, 8); };
  cudaEvent_t start = nullptr, stop = nullptr;
  check(cudaEventCreate(&start), "event"), check(cudaEventCreate(&stop), "event");
  std::vector<float> seconds;
  std::vector<long> wrong;
  for (long run = 0; run < in.number("runs") && wrong.empty(); ++run) {
    const unsigned long number = static_cast<unsigned long>(run) << 32;
    inputs(number);
    check(cudaMemset(c.data, 0xff, c.bytes()), "poison");  // NaN
    check(cudaDeviceSynchronize(), "inputs");
    check(cudaEventRecord(start, nullptr), "event");
    call(course::gpu::RACER, c.data, a.data, b.data, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
    check(cudaEventRecord(stop, nullptr), "event");
    // What c holds when the clock stops: work that another stream does later comes too late.
    check(cudaMemcpyAsync(seen.data, c.data, c.bytes(), cudaMemcpyDeviceToDevice, nullptr), "copy");
    check(cudaDeviceSynchronize(), "kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
    seconds.push_back(milliseconds / 1000);
    inputs(number);  // again: the racer could have changed them
    draw(v, seed + number + (1UL << 31), 32767);
    times_vector(bv, b, v), times_vector(abv, a, bv), times_vector(cv, seen, v);
    const std::vector<double> found = host(cv), expected = host(abv);
    for (long row = 0; row < m && wrong.empty(); ++row)
      if (!(found[static_cast<size_t>(row)] == expected[static_cast<size_t>(row)])) wrong = {run, row};
  }
  cudaEventDestroy(start), cudaEventDestroy(stop);
  out.floats("seconds", seconds);
  out.longs("wrong", wrong);
}
