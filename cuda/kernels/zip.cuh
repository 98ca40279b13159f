// The rows of elementwise.def with two operands, as functors of the elementwise kernels.
#pragma once

#include "gradus/tensor/base/half.h"
#include "gradus/tensor/math/elementwise.h"

namespace gradus::cuda {

template <BinaryOp op>
struct Zip {
  template <class T>
  __device__ auto operator()(T x, T y) const {
    return scalar::Binary<op>::f(x, y);
  }
};

// Operands of type T enter as the type Entered, and the result is of it too.
template <BinaryOp op, class Entered>
struct ZipAs {
  template <class T>
  __device__ Entered operator()(T x, T y) const {
    return static_cast<Entered>(
        scalar::Binary<op>::f(static_cast<Entered>(x), static_cast<Entered>(y)));
  }
};

// f of a float and an element of a half type.
template <class F>
struct WithHalf {
  F f;
  bool brain;  // of bfloat16
  __device__ float operator()(float x, uint16_t y) const {
    return f(x, brain ? detail::float_of(uint32_t{y} << 16) : detail::half_value(y));
  }
};

// One operand is a number. Choosing its side by a select costs nothing beside the memory access,
// and saves a second kernel.
template <BinaryOp op, class T>
struct ZipNumber {
  T number;
  bool number_first;

  __device__ auto operator()(T x) const {
    return scalar::Binary<op>::f(number_first ? number : x, number_first ? x : number);
  }
};

// The same for operands that are converted, where one kernel serves both numbers and tensors: the
// number stands for whatever is read in its place.
enum class NumberAt : uint8_t { nowhere, first, second };
template <BinaryOp op, class T>
struct ZipConverted {
  T number;
  NumberAt at;

  __device__ auto operator()(T x, T y) const {
    return scalar::Binary<op>::f(at == NumberAt::first ? number : x,
                                 at == NumberAt::second ? number : y);
  }
};

}  // namespace gradus::cuda
