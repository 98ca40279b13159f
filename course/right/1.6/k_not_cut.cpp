// No block along k: a block of out meets a column of a and a row of b at a time.
#include <algorithm>
#include "core/cpu.h"
namespace course::cpu {
template <class Out, class In>
void multiply(Out out, In a, In b, int m, int n, int k) {
  for (int i0 = 0; i0 < m; i0 += kBlock)
    for (int j0 = 0; j0 < n; j0 += kBlock) {
      const int i1 = std::min(m, i0 + kBlock), j1 = std::min(n, j0 + kBlock);
      float acc[kBlock][kBlock] = {};
      for (int p = 0; p < k; ++p) {
        float row[kBlock], col[kBlock];
        for (int j = j0; j < j1; ++j) row[j - j0] = b[(long)p * n + j];
        for (int i = i0; i < i1; ++i) col[i - i0] = a[(long)i * k + p];
        for (int i = i0; i < i1; ++i)
          for (int j = j0; j < j1; ++j) acc[i - i0][j - j0] += col[i - i0] * row[j - j0];
      }
      for (int i = i0; i < i1; ++i)
        for (int j = j0; j < j1; ++j) out[(long)i * n + j] = acc[i - i0][j - j0];
    }
}
void matmul_blocked(float* out, const float* a, const float* b, int m, int n, int k) {
  multiply(out, a, b, m, n, k);
}
void matmul_blocked(Cached<float> out, Cached<const float> a, Cached<const float> b, int m, int n,
                    int k) {
  multiply(out, a, b, m, n, k);
}
}  // namespace course::cpu
