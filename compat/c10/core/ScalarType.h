// The C++ type of a dtype, and the dtype of a C++ type.
#pragma once

#include "gradus/tensor/base/dtype.h"

namespace gradus {

template <class T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, dtype_of<T>> {};

namespace impl {
template <ScalarType dtype>
struct ScalarTypeToCPPType;
#define DTYPE(name, cpp_type, short_name, kind, computed) \
  template <>                                             \
  struct ScalarTypeToCPPType<ScalarType::name> {          \
    using type = cpp_type;                                \
  };
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
template <ScalarType dtype>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<dtype>::type;
}  // namespace impl

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
