// gather, and the numbers that several index lists become (add_offsets).
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk/index.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// step: of out, index and x; place * jump is where an element of x stands.
template <class T>
void gather_places(int64_t n, const IndexRule& rule, const std::array<int64_t, 3>& step,
                   int64_t jump, T* to, const int64_t* which, const T* from) {
  for (int64_t i = 0; i < n; ++i)
    to[i * step[0]] = from[i * step[2] + checked_place(rule, which[i * step[1]]) * jump];
}

// to[i] = from[which[i]]. A number from [0, size) is its own place: the fewer instructions stand
// between the loads, the more of those that miss the cache are under way at once.
template <class T>
void gather_neighbours(int64_t n, const IndexRule rule, T* to, const int64_t* which,
                       const T* from) {
  const auto element = [=](int64_t number) {
    const bool in_place = static_cast<uint64_t>(number) < static_cast<uint64_t>(rule.size);
    return from[in_place ? number : checked_place(rule, number)];
  };
  constexpr int64_t kSome = 8;
  for (; n >= kSome; n -= kSome, to += kSome, which += kSome)
#pragma GCC unroll 8
    for (int64_t i = 0; i < kSome; ++i) to[i] = element(which[i]);
  for (; n > 0; --n) *to++ = element(*which++);
}

template <class T>
void gather_run(int64_t n, const IndexRule& rule, const std::array<int64_t, 3>& step, int64_t jump,
                T* to, const int64_t* which, const T* from) {
  if (step[1] == 0)  // one number for the whole run: a row of a matrix, for example
    return copy_run(n, to, step[0], from + checked_place(rule, *which) * jump, step[2]);
  gather_places(n, rule, step, jump, to, which, from);
}

}  // namespace

void CpuBackend::gather(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
                        const Tensor& out) {
  const int64_t jump = x.strides()[dim];
  const Strided<3> view =
      collapse<3>(out.sizes(), {out.strides(), index.strides(), strides_without(x, dim)});
  const auto step = inner_strides(view);
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    const T* const from = static_cast<const T*>(x.data_ptr());
    const int64_t* const which = static_cast<const int64_t*>(index.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    parallel_for(0, view.numel, share_of(view.numel, kGrain), [&](int64_t begin, int64_t end) {
      if (step == std::array<int64_t, 3>{1, 1, 0} && jump == 1)
        return walk(view, begin, end, [&](const auto& at, int64_t n) {
          gather_neighbours(n, rule, to + at[0], which + at[1], from + at[2]);
        });
      walk(view, begin, end, [&](const auto& at, int64_t n) {
        gather_run(n, rule, step, jump, to + at[0], which + at[1], from + at[2]);
      });
    });
  });
}

void CpuBackend::add_offsets(const IndexRule& rule, int64_t stride, const Tensor& index,
                             const Tensor& out) {
  const Strided<2> view = collapse<2>(out.sizes(), {out.strides(), index.strides()});
  const auto step = inner_strides(view);
  const int64_t* const from = static_cast<const int64_t*>(index.data_ptr());
  int64_t* const to = static_cast<int64_t*>(out.data_ptr());
  parallel_for(0, view.numel, share_of(view.numel, kGrain), [&](int64_t begin, int64_t end) {
    walk(view, begin, end, [&, rule](const auto& at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        to[at[0] + i * step[0]] += stride * checked_place(rule, from[at[1] + i * step[1]]);
    });
  });
}

}  // namespace gradus::cpu
