// LOSES: operations
// Hands the operands over in the wrong order.
#include "core/cpu.h"

namespace course::cpu {

void zip(Op2 op, float* out, const Layout& out_layout, const float* x, const Layout& x_layout, const float* y,
         const Layout& y_layout) {
  const auto step = [](const Layout& layout, int d) { return layout.sizes[d] == 1 ? 0 : layout.strides[d]; };
  const long count = out_layout.count();
  for (long n = 0; n < count; ++n) {
    long to = 0, x_at = 0, y_at = 0, rest = n;
    for (int d = out_layout.rank; d-- > 0;) {
      const long i = rest % out_layout.sizes[d];
      rest /= out_layout.sizes[d];
      to += i * out_layout.strides[d];
      x_at += i * step(x_layout, d);
      y_at += i * step(y_layout, d);
    }
    out[to] = apply(op, y[y_at], x[x_at]);
  }
}

}  // namespace course::cpu
