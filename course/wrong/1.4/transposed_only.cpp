// LOSES: parts
// Takes a column stride other than 1 for a transposed contiguous matrix.
#include "core/cpu.h"

namespace course::cpu {

void matmul(float* out, const Mat& a, const Mat& b, int m, int n, int k) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      const long a_column = a.column == 1 ? 1 : m, b_column = b.column == 1 ? 1 : k;
      for (long p = 0; p < k; ++p) sum += a.data[i * a.row + p * a_column] * b.data[p * b.row + j * b_column];
      out[i * n + j] = sum;
    }
  }
}

}  // namespace course::cpu
