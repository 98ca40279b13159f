// LOSES: misses, out stays
// Blocks along m and n only: the rows of a and columns of b that meet are longer than the cache.
#include <algorithm>

#include "core/cpu.h"

namespace course::cpu {

// Out and In are pointers, or what acts as one and counts cache misses.
template <class Out, class In>
void multiply(Out out, In a, In b, int m, int n, int k) {
  for (int i0 = 0; i0 < m; i0 += kBlock)
    for (int j0 = 0; j0 < n; j0 += kBlock)
      for (int i = i0; i < std::min(i0 + kBlock, m); ++i)
        for (int j = j0; j < std::min(j0 + kBlock, n); ++j) {
          float sum = 0;
          for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
          out[i * n + j] = sum;
        }
}

void matmul_blocked(float* out, const float* a, const float* b, int m, int n, int k) { multiply(out, a, b, m, n, k); }
void matmul_blocked(Cached<float> out, Cached<const float> a, Cached<const float> b, int m, int n, int k) {
  multiply(out, a, b, m, n, k);
}

}  // namespace course::cpu
