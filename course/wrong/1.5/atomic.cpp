// LOSES: same bits
// The chunks add to an atomic number, in the order in which they happen to run.
#include <algorithm>
#include <atomic>

#include "core/cpu.h"

namespace course::cpu {

float reduce_parallel(Op2 op, float start, const float* x, long n) {
  std::atomic<float> value = start;
  parallel_for((n + kPart - 1) / kPart, [&](long begin, long end) {
    for (long part = begin; part < end; ++part) {
      const long first = part * kPart, last = std::min(first + kPart, n);
      float sum = x[first];
      for (long i = first + 1; i < last; ++i) sum = apply(op, sum, x[i]);
      float before = value.load();
      while (!value.compare_exchange_weak(before, apply(op, before, sum))) {
      }
    }
  });
  return value.load();
}

}  // namespace course::cpu
