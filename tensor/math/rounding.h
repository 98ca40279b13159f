// Arithmetic that gives the same bits on every device.
#pragma once

#include <type_traits>

#include "gradus/tensor/math/elementwise.h"

namespace gradus {

// a * b + c with a rounding after each operation: a device compiler would fuse the two. Host code
// that calls this is built with -ffp-contract=off.
template <class T>
GRADUS_HD T multiply_then_add(T a, T b, T c) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>)
    return __fadd_rn(__fmul_rn(a, b), c);
  else if constexpr (std::is_same_v<T, double>)
    return __dadd_rn(__dmul_rn(a, b), c);
  else
    return a * b + c;
#else
  return a * b + c;
#endif
}

}  // namespace gradus
