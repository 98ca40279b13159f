#include "gradus/tensor/scatter.h"

#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/index.h"
#include "gradus/cpu/loops.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"

namespace gradus::cpu {

namespace {

// Whether the rule allows n numbers. One that it does not leaves a sign, however far it is out.
bool allows_all(const IndexRule& rule, int64_t n, const int64_t* numbers) {
  const auto low = static_cast<uint64_t>(rule.wraps ? rule.size : 0);
  const auto high = static_cast<uint64_t>(rule.size - 1);
  uint64_t signs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto number = static_cast<uint64_t>(numbers[i]);
    signs |= (number + low) | (high - number);
  }
  return static_cast<int64_t>(signs) >= 0;
}

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
      if (step == 1 && allows_all(rule, n, values + at[0])) return;
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

// What puts a run of numbers to as many that are there; null where it takes their place.
Loop row_loop(ScatterOp op, ScalarType dtype) {
  switch (op) {
    case ScatterOp::set:
      return nullptr;
    case ScatterOp::sum:
      return zip_loop(BinaryOp::add, dtype).loop;
    case ScatterOp::prod:
      return zip_loop(BinaryOp::mul, dtype).loop;
    case ScatterOp::amax:
      return zip_loop(BinaryOp::maximum, dtype).loop;
    case ScatterOp::amin:
      return zip_loop(BinaryOp::minimum, dtype).loop;
  }
  return nullptr;
}

// The rule is a copy, which no store can change.
template <ScatterOp op, class T>
void put_neighbours(const IndexRule rule, int64_t n, T* out, const int64_t* which, const T* src) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) {
    T& there = out[rule.place(which[i])];
    there = put_to<op>(there, src[i]);
  }
}

template <ScatterOp op, class T>
void scatter_lines(const IndexRule& rule, Loop row, const Lines& lines, int64_t begin, int64_t end,
                   T* out, const int64_t* index, const T* src) {
  const auto put = [&](T* to, int64_t which, T fresh) {
    T& there = to[rule.place(which) * lines.jump];
    there = put_to<op>(there, fresh);
  };
  const auto step = inner_strides(lines.others);
  if (!lines.side_by_side()) {
    const bool neighbours = lines.jump == 1 && lines.index_step == 1 && lines.src_step == 1;
    walk(lines.others, begin, end, [&](const auto& at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        T* const to = out + at[0] + i * step[0];
        const int64_t* const which = index + at[1] + i * step[1];
        const T* const from = src + at[2] + i * step[2];
        if (neighbours) {
          put_neighbours<op>(rule, lines.length, to, which, from);
          continue;
        }
        for (int64_t k = 0; k < lines.length; ++k)
          put(to, which[k * lines.index_step], from[k * lines.src_step]);
      }
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
        return;
      }
      T* const to = out + at[0] + rule.place(*which) * lines.jump;
      const void* const in[] = {to, from};
      if (step[0] != 1 || step[2] != 1)
        for (int64_t i = 0; i < n; ++i)
          to[i * step[0]] = put_to<op>(to[i * step[0]], from[i * step[2]]);
      else if (row)
        row(n, to, in);
      else
        std::memmove(to, from, static_cast<size_t>(n) * sizeof(T));
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
    const Loop row = row_loop(op, out.scalar_type());
    parallel_for(0, lines.others.numel, grain, [&](int64_t begin, int64_t end) {
      scatter_lines<constant.value>(rule, row, lines, begin, end, static_cast<T*>(out.data_ptr()),
                                    static_cast<const int64_t*>(index.data_ptr()),
                                    static_cast<const T*>(src.data_ptr()));
    });
  });
}

}  // namespace gradus::cpu
