// LOSES: edges
// Leaves out the blocks that are not whole.
#include <algorithm>

#include "core/cpu.h"

namespace course::cpu {

// Out and In are pointers, or what acts as one and counts cache misses.
template <class Out, class In>
void multiply(Out out, In a, In b, int m, int n, int k) {
  for (int i = 0; i < m * n; ++i) out[i] = 0;
  for (int i0 = 0; i0 + kBlock <= m; i0 += kBlock) {
    const int i1 = std::min(i0 + kBlock, m);
    for (int j0 = 0; j0 + kBlock <= n; j0 += kBlock) {
      const int j1 = std::min(j0 + kBlock, n);
      for (int p0 = 0; p0 + kBlock <= k; p0 += kBlock) {
        const int p1 = std::min(p0 + kBlock, k);
        for (int i = i0; i < i1; ++i)
          for (int p = p0; p < p1; ++p) {
            const float factor = a[i * k + p];
            for (int j = j0; j < j1; ++j) out[i * n + j] += factor * b[p * n + j];
          }
      }
    }
  }
}

void matmul_blocked(float* out, const float* a, const float* b, int m, int n, int k) { multiply(out, a, b, m, n, k); }
void matmul_blocked(Cached<float> out, Cached<const float> a, Cached<const float> b, int m, int n, int k) {
  multiply(out, a, b, m, n, k);
}

}  // namespace course::cpu
