// scatter: puts elements at places along a dimension, in the order of the index.
#include "gradus/tensor/math/scatter.h"

#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk/find_loop.h"
#include "gradus/cpu/walk/index.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/raw/operand.h"

namespace gradus::cpu {

namespace {

// Whether the rule allows n numbers. One that it does not leaves a sign, however far it is out.
[[gnu::always_inline]] inline bool leave_no_sign(const IndexRule& rule, int64_t n,
                                                 const int64_t* numbers) {
  const auto low = static_cast<uint64_t>(rule.wraps ? rule.size : 0);
  const auto high = static_cast<uint64_t>(rule.size - 1);
  uint64_t signs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto number = static_cast<uint64_t>(numbers[i]);
    signs |= (number + low) | (high - number);
  }
  return static_cast<int64_t>(signs) >= 0;
}
#ifdef __x86_64__
[[gnu::target("avx2")]] bool leave_no_sign_avx2(const IndexRule& rule, int64_t n,
                                                const int64_t* numbers) {
  return leave_no_sign(rule, n, numbers);
}
#endif
bool allows_all(const IndexRule& rule, int64_t n, const int64_t* numbers) {
#ifdef __x86_64__
  if (instruction_set() != InstructionSet::baseline) return leave_no_sign_avx2(rule, n, numbers);
#endif
  return leave_no_sign(rule, n, numbers);
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

using Steps = std::array<int64_t, 3>;  // of out, index, src

// A line is what one position in the other dimensions sees of the indexed one. No two lines share
// an element of out, so threads share the lines, and each goes along the dimension in order.
struct Lines {
  Strided<3> others;  // out, index, src
  int64_t length;
  int64_t jump, index_step, src_step;  // along the indexed dimension

  // Whether memory lies in the order of the lines: then they are walked side by side. Where src is
  // one number, that of out counts.
  bool side_by_side() const {
    if (others.dims == 0) return false;
    const Steps across = inner_strides(others);
    if (src_step == 0 && across[2] == 0) return std::abs(jump) >= std::abs(across[0]);
    return std::abs(src_step) >= std::abs(across[2]);
  }
};

// The loop that adds a run of numbers to as many that are there; null where they take their place.
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

// Puts n numbers along one line. All are values, which no store can change.
template <ScatterOp op, class T>
[[gnu::always_inline]] inline void put_steps(int64_t back, int64_t n, T* out, int64_t jump,
                                             const int64_t* which, int64_t index_step, const T* src,
                                             int64_t src_step) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) {
    const int64_t number = which[i * index_step];
    T& there = out[(number + (number < 0 ? back : 0)) * jump];
    there = put_to<op>(there, src[i * src_step]);
  }
}

// The usual steps are constants. REQUIRES: the rule allows the numbers.
template <ScatterOp op, class T>
void put_line(const IndexRule& rule, int64_t n, T* out, int64_t jump, const int64_t* which,
              int64_t index_step, const T* src, int64_t src_step) {
  const int64_t back = rule.wraps ? rule.size : 0;
  if (jump != 1 || index_step != 1)
    put_steps<op>(back, n, out, jump, which, index_step, src, src_step);
  else if (src_step != 1)
    put_steps<op>(back, n, out, 1, which, 1, src, src_step);
  else if (rule.wraps)
    put_steps<op>(back, n, out, 1, which, 1, src, 1);
  else
    put_steps<op>(0, n, out, 1, which, 1, src, 1);
}

template <ScatterOp op, class T>
void scatter_lines(const IndexRule& rule, Loop row, const Lines& lines, int64_t begin, int64_t end,
                   T* out, const int64_t* index, const T* src) {
  const Steps step = inner_strides(lines.others);
  if (!lines.side_by_side()) {
    walk(lines.others, begin, end, [&](const auto& at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        put_line<op>(rule, lines.length, out + at[0] + i * step[0], lines.jump,
                     index + at[1] + i * step[1], lines.index_step, src + at[2] + i * step[2],
                     lines.src_step);
    });
    return;
  }
  for (int64_t k = 0; k < lines.length; ++k)
    walk(lines.others, begin, end, [&](const auto& at, int64_t n) {
      const int64_t* const which = index + at[1] + k * lines.index_step;
      const T* const from = src + at[2] + k * lines.src_step;
      if (step[1] != 0) {
        for (int64_t i = 0; i < n; ++i) {
          T& there = out[at[0] + i * step[0] + rule.place(which[i * step[1]]) * lines.jump];
          there = put_to<op>(there, from[i * step[2]]);
        }
        return;
      }
      T* const to = out + at[0] + rule.place(*which) * lines.jump;
      const void* const in[] = {to, from};
      if (step == Steps{1, 0, 1} && row)
        row(n, to, in);
      else if (op == ScatterOp::set && step == Steps{1, 0, 1})
        std::memmove(to, from, static_cast<size_t>(n) * sizeof(T));
      else if (op == ScatterOp::set && step == Steps{1, 0, 0})
        std::fill_n(to, n, *from);
      else
        for (int64_t i = 0; i < n; ++i)
          to[i * step[0]] = put_to<op>(to[i * step[0]], from[i * step[2]]);
    });
}

}  // namespace

void CpuBackend::scatter(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
                         const Operand& elements, const Tensor& out) {
  check_all(rule, index);
  Tensor kept;
  const Tensor& src = raw::as_tensor(elements, index.sizes(), out, kept);
  Dims sizes = index.impl().sizes;
  sizes[dim] = 1;
  const Lines lines{collapse<3>(sizes, {out.strides(), index.strides(), src.strides()}),
                    index.sizes()[dim], out.strides()[dim], index.strides()[dim],
                    src.strides()[dim]};
  // Columns side by side are as long rows as the threads leave them.
  const int64_t few = divide_up(kGrain, std::max<int64_t>(1, lines.length));
  const int64_t grain =
      lines.side_by_side() ? share_of(lines.others.numel, std::max<int64_t>(64, few)) : few;
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
