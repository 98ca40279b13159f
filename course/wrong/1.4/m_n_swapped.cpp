// LOSES: sizes, transposed, parts, nothing else
// Exchanges m and n in the loops.
#include "core/cpu.h"

namespace course::cpu {

void matmul(float* out, const Mat& a, const Mat& b, int m, int n, int k) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < m; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum += a.data[i * a.row + p * a.column] * b.data[p * b.row + j * b.column];
      out[i * n + j] = sum;
    }
  }
}

}  // namespace course::cpu
