// LOSES: work is shared
// Never calls parallel_for.
#include <algorithm>

#include "core/cpu.h"

namespace course::cpu {

float reduce_parallel(Op2 op, float start, const float* x, long n) {
  float value = start;
  for (long i = 0; i < n; ++i) value = apply(op, value, x[i]);
  return value;
}

}  // namespace course::cpu
