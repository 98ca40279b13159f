// map, zip and reduce as plain loops: one element after the other, of any layout, by one thread.
// Read this before run_loop.cpp and ops/reduce.cpp, which do the same by vectors, in blocks and on
// several threads. tests/cpu/plain_test.cpp compares the two.
#pragma once

#include "gradus/tensor/shape.h"

namespace gradus::cpu::plain {

// A tensor of numbers: element (i, j, ...) lies at data[i * strides[0] + j * strides[1] + ...]. A
// stride of 0 repeats an element along its dimension.
template <class T>
struct View {
  T* data;
  IntArrayRef sizes, strides;

  // Element `number`, as they are counted along the last dimension first.
  T& operator[](int64_t number) const {
    int64_t offset = 0;
    for (size_t d = sizes.size(); d-- > 0; number /= sizes[d])
      offset += number % sizes[d] * strides[d];
    return data[offset];
  }
  int64_t numel() const {
    int64_t out = 1;
    for (const int64_t size : sizes) out *= size;
    return out;
  }
};

// out[i] = f(x[i], ...) for one input (map) or several (zip), all of out's shape.
template <class F, class Out, class... In>
void map(F f, View<Out> out, View<In>... x) {
  for (int64_t i = 0; i < out.numel(); ++i) out[i] = f(x[i]...);
}

// Folds x into out, which has x's rank, and the size 1 where x is reduced.
template <class F, class T>
void reduce(F combine, T start, View<T> out, View<const T> x) {
  map([start] { return start; }, out);
  // out is made as large as x: all elements that are folded into one are that one.
  Dims strides(out.strides.data(), out.strides.size());
  for (size_t d = 0; d < strides.size(); ++d)
    if (out.sizes[d] != x.sizes[d]) strides[d] = 0;
  const View<T> target = {out.data, x.sizes, strides};
  for (int64_t i = 0; i < x.numel(); ++i) target[i] = combine(target[i], x[i]);
}

}  // namespace gradus::cpu::plain
