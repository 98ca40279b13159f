// Task 7.1, another way: sums in functions that take seven arguments and are not inlined.
#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

constexpr unsigned kWide = 32, kHigh = 8;

// Blocks of 8 rows by 32 columns; the token is loaded once by a warp and handed round.
__global__ void embedding_kernel(float* out, const float* table, const float* places,
                                 const int* ids, long rows, int length, int d) {
  const long i = long(blockIdx.x) * kHigh + threadIdx.y;
  if (i >= rows) return;
  int id = 0;
  if (threadIdx.x == 0) id = ids[i];
  id = __shfl_sync(0xffffffffu, id, 0);
  const int place = static_cast<int>(i % length);
  for (int e = threadIdx.x; e < d; e += kWide)
    out[i * d + e] = table[size_t(id) * d + e] + places[size_t(place) * d + e];
}

__device__ void places_sum(float* dplaces, const float* dout, long rows, int length, int d, int p,
                           int e) {
  float piled = 0;
  for (long piece = 0; piece * length + p < rows; ++piece) piled += dout[(piece * length + p) * d + e];
  dplaces[size_t(p) * d + e] = piled;
}

__device__ void table_sum(float* dtable, const float* dout, const int* ids, long rows, int d, int v,
                          int e) {
  float piled = 0;
  const float* from = dout + e;
  for (const int *id = ids, *end = ids + rows; id != end; ++id, from += d)
    if (*id == v) piled += *from;
  dtable[size_t(v) * d + e] = piled;
}

__global__ void embedding_backward_kernel(float* dtable, float* dplaces, const float* dout,
                                          const int* ids, long rows, int length, int vocabulary,
                                          int d) {
  const long line = long(blockIdx.x) * kHigh + threadIdx.y;
  const int e = blockIdx.y * kWide + threadIdx.x;
  if (e >= d) return;
  if (line < length)
    places_sum(dplaces, dout, rows, length, d, int(line), e);
  else if (line - length < vocabulary)
    table_sum(dtable, dout, ids, rows, d, int(line - length), e);
}

void embedding(float* out, const float* table, const float* places, const int* ids, long rows,
               int length, int d) {
  launch(embedding_kernel, {ceil_div(rows, kHigh), dim3(kWide, kHigh)}, out, table, places, ids,
         rows, length, d);
}

void embedding_backward(float* dtable, float* dplaces, const float* dout, const int* ids, long rows,
                        int length, int vocabulary, int d) {
  launch(embedding_backward_kernel,
         {dim3(ceil_div(long(length) + vocabulary, kHigh), ceil_div(d, kWide)), dim3(kWide, kHigh)},
         dtable, dplaces, dout, ids, rows, length, vocabulary, d);
}

}  // namespace course::gpu
