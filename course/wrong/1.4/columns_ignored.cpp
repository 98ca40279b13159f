// LOSES: transposed, parts
// Takes neighbours in a row for neighbours in memory.
#include "core/cpu.h"

namespace course::cpu {

void matmul(float* out, const Mat& a, const Mat& b, int m, int n, int k) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum += a.data[i * a.row + p] * b.data[p * b.row + j];
      out[i * n + j] = sum;
    }
  }
}

}  // namespace course::cpu
