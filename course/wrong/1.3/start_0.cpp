// LOSES: negative, order, no elements
// Begins with 0.
#include "core/cpu.h"

namespace course::cpu {

void reduce(Op2 op, float start, float* out, const Layout& out_layout, const float* x, const Layout& x_layout,
            int dim) {
  const long count = out_layout.count(), length = x_layout.sizes[dim], step = x_layout.strides[dim];
  for (long n = 0; n < count; ++n) {
    long to = 0, from = 0, rest = n;
    for (int d = out_layout.rank; d-- > 0;) {
      const long i = rest % out_layout.sizes[d];
      rest /= out_layout.sizes[d];
      to += i * out_layout.strides[d];
      from += i * x_layout.strides[d];
    }
    float value = 0;
    for (long j = 0; j < length; ++j) value = apply(op, value, x[from + j * step]);
    out[to] = value;
  }
}

}  // namespace course::cpu
