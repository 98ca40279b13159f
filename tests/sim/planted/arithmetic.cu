// Arithmetic that the language leaves undefined.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

// A mean over no elements. On a GPU the quotient is some number.
__global__ void mean_of_nothing(const int* sums, const int* counts, int* means) {
  const unsigned i = threadIdx.x;
  means[i] = sums[i] / counts[i];  // BUG mean_of_nothing
}
const Plant mean_of_nothing_bug("mean_of_nothing", "arithmetic", [] {
  std::vector<int> counts(32, 4);
  counts[7] = 0;
  const Buffer<int> sums(32, 100), given(counts), means(32);
  launch(mean_of_nothing, {1, 32}, sums, given, means);
  cudaDeviceSynchronize();
});

// The mask of all lanes, by a shift that the last lane makes by 32.
__global__ void mask_by_shift(unsigned* masks) {
  const unsigned lane = threadIdx.x % 32;
  masks[threadIdx.x] = (1u << (lane + 1)) - 1;  // BUG mask_by_shift
}
const Plant mask_by_shift_bug("mask_by_shift", "arithmetic", [] {
  const Buffer<unsigned> masks(64);
  launch(mask_by_shift, {1, 64}, masks);
  cudaDeviceSynchronize();
});

// Logits of -inf and a sum of 0 make NaN, that no class index can be.
__global__ void index_of_nan(const float* x, int* out) {
  const unsigned i = threadIdx.x;
  out[i] = static_cast<int>(x[i] / x[i]);  // BUG index_of_nan
}
const Plant index_of_nan_bug("index_of_nan", "arithmetic", [] {
  std::vector<float> values(32, 2.f);
  values[3] = 0;
  const Buffer<float> x(values);
  const Buffer<int> out(32);
  launch(index_of_nan, {1, 32}, x, out);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
