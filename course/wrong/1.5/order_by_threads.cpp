// LOSES: same bits
// A part for each chunk: where x is cut depends on the number of threads.
#include <algorithm>

#include "core/cpu.h"

namespace course::cpu {

float reduce_parallel(Op2 op, float start, const float* x, long n) {
  std::vector<float> parts(static_cast<size_t>(n));
  std::vector<char> used(static_cast<size_t>(n));
  parallel_for(n, [&](long begin, long end) {
    float value = x[begin];
    for (long i = begin + 1; i < end; ++i) value = apply(op, value, x[i]);
    parts[static_cast<size_t>(begin)] = value, used[static_cast<size_t>(begin)] = 1;
  });
  float value = start;
  for (size_t i = 0; i < parts.size(); ++i)
    if (used[i]) value = apply(op, value, parts[i]);
  return value;
}

}  // namespace course::cpu
