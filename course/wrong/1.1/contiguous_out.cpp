// LOSES: strides of out, gaps
// Stores the elements of out one after the other.
#include "core/cpu.h"

namespace course::cpu {

void map(Op1 op, float* out, const Layout& out_layout, const float* x, const Layout& x_layout) {
  const long count = out_layout.count();
  for (long n = 0; n < count; ++n) {
    long from = 0, rest = n;
    for (int d = out_layout.rank; d-- > 0;) {
      const long i = rest % out_layout.sizes[d];
      rest /= out_layout.sizes[d];
      if (x_layout.sizes[d] != 1) from += i * x_layout.strides[d];
    }
    out[n] = apply(op, x[from]);
  }
}

}  // namespace course::cpu
