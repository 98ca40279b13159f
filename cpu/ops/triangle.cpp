// tril and triu.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// The rows of all matrices in order: each is zeros up to, or from, where it meets the diagonal.
template <class T>
void triangle_of(bool upper, int64_t diagonal, const Tensor& x, const Tensor& out) {
  const int64_t rows = x.size(-2), columns = x.size(-1), step = x.stride(-1);
  const size_t outer = x.sizes().size() - 1;
  const Strided<2> lines = collapse<2>(
      x.sizes().slice(0, outer), {out.strides().slice(0, outer), x.strides().slice(0, outer)});
  const auto line_step = inner_strides(lines);
  const int64_t first_edge = std::clamp(diagonal, -rows, columns) + (upper ? 0 : 1);
  const int64_t grain = std::max<int64_t>(1, kGrain / columns);
  parallel_for(0, lines.numel, share_of(lines.numel, grain, 1), [&](int64_t begin, int64_t end) {
    int64_t row = begin % rows;
    walk(lines, begin, end, [&](const auto& at, int64_t n) {
      T* to = static_cast<T*>(out.data_ptr()) + at[0];
      const T* from = static_cast<const T*>(x.data_ptr()) + at[1];
      for (int64_t i = 0; i < n; ++i, to += line_step[0], from += line_step[1]) {
        const int64_t edge = std::clamp<int64_t>(row + first_edge, 0, columns);
        const int64_t kept = upper ? edge : 0, last = upper ? columns : edge;
        std::fill(to, to + kept, T{0});
        if (step == 1)
          std::copy(from + kept, from + last, to + kept);
        else
          for (int64_t column = kept; column < last; ++column) to[column] = from[column * step];
        std::fill(to + last, to + columns, T{0});
        if (++row == rows) row = 0;
      }
    });
  });
}

}  // namespace

void CpuBackend::triangle(bool upper, int64_t diagonal, const Tensor& x, const Tensor& out) {
  visit_bits(out.element_size(),
             [&]<class T>(TypeTag<T>) { triangle_of<T>(upper, diagonal, x, out); });
}

}  // namespace gradus::cpu
