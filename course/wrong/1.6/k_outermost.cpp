// LOSES: out stays
// The loop over blocks along k is the outermost: the blocks of out come and go.
#include <algorithm>

#include "core/cpu.h"

namespace course::cpu {

// Out and In are pointers, or what acts as one and counts cache misses.
template <class Out, class In>
void multiply(Out out, In a, In b, int m, int n, int k) {
  for (int i = 0; i < m * n; ++i) out[i] = 0;
  for (int p0 = 0; p0 < k; p0 += kBlock)
    for (int i0 = 0; i0 < m; i0 += kBlock)
      for (int j0 = 0; j0 < n; j0 += kBlock)
        for (int i = i0; i < std::min(i0 + kBlock, m); ++i)
          for (int p = p0; p < std::min(p0 + kBlock, k); ++p)
            for (int j = j0; j < std::min(j0 + kBlock, n); ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
}

void matmul_blocked(float* out, const float* a, const float* b, int m, int n, int k) { multiply(out, a, b, m, n, k); }
void matmul_blocked(Cached<float> out, Cached<const float> a, Cached<const float> b, int m, int n, int k) {
  multiply(out, a, b, m, n, k);
}

}  // namespace course::cpu
