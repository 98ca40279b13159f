#include "gradus/tensor/scatter.h"

#include "gradus/cpu/backend.h"
#include "gradus/cpu/index.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"

namespace gradus::cpu {

namespace {

// Errors: IndexError unless the rule allows every number. A broadcast one is looked at once.
void check_all(const IndexRule& rule, const Tensor& index) {
  Dims sizes = index.impl().sizes;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (index.strides()[d] == 0) sizes[d] = 1;
  const Strided<1> view = collapse<1>(sizes, {index.strides()});
  const int64_t step = inner_strides(view)[0];
  const int64_t* const values = static_cast<const int64_t*>(index.data_ptr());
  parallel_for(0, view.numel, kGrain, [&](int64_t begin, int64_t end) {
    walk(view, begin, end, [&](const auto& at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) checked_place(rule, values[at[0] + i * step]);
    });
  });
}

// A line is what one position in the other dimensions sees of the indexed one. No two lines share
// an element of out, so threads share the lines, and each goes along the dimension in order.
struct Lines {
  Strided<3> others;  // out, index, src
  int64_t length;
  int64_t jump, index_step, src_step;  // along the indexed dimension

  // Whether memory lies in the order of the lines: then they are walked side by side.
  bool side_by_side() const {
    return others.dims > 0 && std::abs(src_step) >= std::abs(inner_strides(others)[2]);
  }
};

template <ScatterOp op, class T>
void scatter_lines(const IndexRule& rule, const Lines& lines, int64_t begin, int64_t end, T* out,
                   const int64_t* index, const T* src) {
  const auto put = [&](T* to, int64_t which, T fresh) {
    T& there = to[rule.place(which) * lines.jump];
    there = put_to<op>(there, fresh);
  };
  const auto step = inner_strides(lines.others);
  if (!lines.side_by_side()) {
    walk(lines.others, begin, end, [&](const auto& at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < lines.length; ++k)
          put(out + at[0] + i * step[0], index[at[1] + i * step[1] + k * lines.index_step],
              src[at[2] + i * step[2] + k * lines.src_step]);
    });
    return;
  }
  for (int64_t k = 0; k < lines.length; ++k)
    walk(lines.others, begin, end, [&](const auto& at, int64_t n) {
      const int64_t* const which = index + at[1] + k * lines.index_step;
      const T* const from = src + at[2] + k * lines.src_step;
      if (step[1] != 0) {
        for (int64_t i = 0; i < n; ++i)
          put(out + at[0] + i * step[0], which[i * step[1]], from[i * step[2]]);
      } else if (T* const to = out + at[0] + rule.place(*which) * lines.jump;
                 step[0] == 1 && step[2] == 1) {
        for (int64_t i = 0; i < n; ++i) to[i] = put_to<op>(to[i], from[i]);
      } else {
        for (int64_t i = 0; i < n; ++i)
          to[i * step[0]] = put_to<op>(to[i * step[0]], from[i * step[2]]);
      }
    });
}

}  // namespace

void CpuBackend::scatter(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
                         const Tensor& src, const Tensor& out) {
  check_all(rule, index);
  Dims sizes = index.impl().sizes;
  sizes[dim] = 1;
  const Lines lines{collapse<3>(sizes, {out.strides(), index.strides(), src.strides()}),
                    index.sizes()[dim], out.strides()[dim], index.strides()[dim],
                    src.strides()[dim]};
  const int64_t grain =
      std::max<int64_t>(lines.side_by_side() ? 64 : 1, kGrain / std::max<int64_t>(1, lines.length));
  visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto constant, TypeTag<T>) {
    parallel_for(0, lines.others.numel, grain, [&](int64_t begin, int64_t end) {
      scatter_lines<constant.value>(rule, lines, begin, end, static_cast<T*>(out.data_ptr()),
                                    static_cast<const int64_t*>(index.data_ptr()),
                                    static_cast<const T*>(src.data_ptr()));
    });
  });
}

}  // namespace gradus::cpu
