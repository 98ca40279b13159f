// AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "name", [&] { f<scalar_t>(x); }) and its kin: run the
// lambda with scalar_t as the C++ type of the dtype. Errors: NotImplementedError that names the
// operation and the dtype, where the dtype is not among those that the macro is for.
#pragma once

#include "gradus/compat/ATen/core/DeprecatedTypeProperties.h"
#include "gradus/compat/c10/core/ScalarType.h"

namespace gradus::detail {

inline ScalarType scalar_type(ScalarType dtype) { return dtype; }
inline ScalarType scalar_type(const DeprecatedTypeProperties& type) { return type.scalarType(); }

[[noreturn]] inline void dispatch_failed(std::string_view op, ScalarType dtype) {
  fail<NotImplementedError>('"', op, "\" not implemented for '", toString(dtype),
                            "'; convert with .to(...)");
}
}  // namespace gradus::detail

#define AT_DISPATCH_CASE(dtype, ...)                                                    \
  case dtype: {                                                                         \
    using scalar_t [[maybe_unused]] =                                                   \
        ::gradus::impl::ScalarTypeToCPPTypeT<static_cast<::gradus::ScalarType>(dtype)>; \
    return __VA_ARGS__();                                                               \
  }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                            \
  [&] {                                                                \
    const auto dispatched_dtype = ::gradus::detail::scalar_type(TYPE); \
    switch (dispatched_dtype) {                                        \
      __VA_ARGS__                                                      \
      default:                                                         \
        ::gradus::detail::dispatch_failed(NAME, dispatched_dtype);     \
    }                                                                  \
  }()

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                 \
  AT_DISPATCH_CASE(::gradus::ScalarType::Float, __VA_ARGS__) \
  AT_DISPATCH_CASE(::gradus::ScalarType::Double, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                 \
  AT_DISPATCH_CASE(::gradus::ScalarType::Byte, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::gradus::ScalarType::Char, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::gradus::ScalarType::Short, __VA_ARGS__) \
  AT_DISPATCH_CASE(::gradus::ScalarType::Int, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::gradus::ScalarType::Long, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)        \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(D, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(                                      \
      TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(D, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(D1, D2, TYPE, NAME, ...)  \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                  \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(D1, __VA_ARGS__) AT_DISPATCH_CASE(D2, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_FLOATING_TYPES_AND(::gradus::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(D, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(                                      \
      TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(D, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(D, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                      \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(D, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(D1, D2, TYPE, NAME, ...)                                    \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                               \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(D1, __VA_ARGS__) \
                         AT_DISPATCH_CASE(D2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(D1, D2, D3, TYPE, NAME, ...)                                \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                               \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(D1, __VA_ARGS__) \
                         AT_DISPATCH_CASE(D2, __VA_ARGS__) AT_DISPATCH_CASE(D3, __VA_ARGS__))

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
