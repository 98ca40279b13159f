// LOSES: no race, same bits
// All chunks combine into one variable.
#include <algorithm>

#include "core/cpu.h"

namespace course::cpu {

float reduce_parallel(Op2 op, float start, const float* x, long n) {
  float value = start;
  parallel_for((n + kPart - 1) / kPart, [&](long begin, long end) {
    for (long i = begin * kPart; i < std::min(end * kPart, n); ++i) value = apply(op, value, x[i]);
  });
  return value;
}

}  // namespace course::cpu
