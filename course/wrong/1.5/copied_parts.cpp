// LOSES: values, tail, start, no race, same bits
// Each chunk copies its results to the front of one list.
#include <algorithm>

#include "core/cpu.h"

namespace course::cpu {

float reduce_parallel(Op2 op, float start, const float* x, long n) {
  std::vector<float> parts(static_cast<size_t>((n + kPart - 1) / kPart) + 1, start);
  parallel_for(static_cast<long>(parts.size()) - 1, [&](long begin, long end) {
    std::vector<float> own;
    for (long part = begin; part < end; ++part) {
      const long first = part * kPart, last = std::min(first + kPart, n);
      own.push_back(x[first]);
      for (long i = first + 1; i < last; ++i) own.back() = apply(op, own.back(), x[i]);
    }
    std::copy(own.begin(), own.end(), parts.begin());
  });
  float value = start;
  for (size_t i = 0; i + 1 < parts.size(); ++i) value = apply(op, value, parts[i]);
  return value;
}

}  // namespace course::cpu
