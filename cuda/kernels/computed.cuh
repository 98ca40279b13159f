// The type in which kernels add numbers up: float32 for half types, else their own.
#pragma once

#include <type_traits>

#include "gradus/tensor/base/half.h"

namespace gradus::cuda {

template <class T>
using Computed = std::conditional_t<is_half<T>, float, T>;

}  // namespace gradus::cuda
