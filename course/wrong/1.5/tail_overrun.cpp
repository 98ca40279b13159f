// LOSES: tail
// The last part reads beyond the end of x.
#include <algorithm>

#include "core/cpu.h"

namespace course::cpu {

float reduce_parallel(Op2 op, float start, const float* x, long n) {
  std::vector<float> parts(static_cast<size_t>((n + kPart - 1) / kPart));
  parallel_for(static_cast<long>(parts.size()), [&](long begin, long end) {
    for (long part = begin; part < end; ++part) {
      const long first = part * kPart, last = first + kPart;
      float value = x[first];
      for (long i = first + 1; i < last; ++i) value = apply(op, value, x[i]);
      parts[static_cast<size_t>(part)] = value;
    }
  });
  float value = start;
  for (const float part : parts) value = apply(op, value, part);
  return value;
}

}  // namespace course::cpu
