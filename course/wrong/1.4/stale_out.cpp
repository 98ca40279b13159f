// LOSES: stale out
// Adds to what out held before.
#include "core/cpu.h"

namespace course::cpu {

void matmul(float* out, const Mat& a, const Mat& b, int m, int n, int k) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) {
      float& sum = out[i * n + j];
      for (long p = 0; p < k; ++p) sum += a.data[i * a.row + p * a.column] * b.data[p * b.row + j * b.column];
    }
  }
}

}  // namespace course::cpu
