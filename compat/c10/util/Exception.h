// libtorch's checks: TORCH_CHECK(x > 0, "x is ", x). c10::Error is gradus::Error.
#pragma once

#include <sstream>

#include "gradus/tensor/error.h"

namespace gradus {

// The parts as a stream prints them, joined.
template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

namespace detail {
template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void check_failed(const char* condition,
                                                         const Parts&... parts) {
  if constexpr (sizeof...(parts) == 0)
    throw E(str("Expected ", condition, " to be true, but got false."));
  else
    throw E(str(parts...));
}
}  // namespace detail

}  // namespace gradus

#define GRADUS_CHECK_WITH(E, cond, ...)                                              \
  do {                                                                               \
    if (!(cond)) [[unlikely]]                                                        \
      ::gradus::detail::check_failed<::gradus::E>(#cond __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
#define TORCH_CHECK(...) GRADUS_CHECK_WITH(Error, __VA_ARGS__)
#define TORCH_CHECK_INDEX(...) GRADUS_CHECK_WITH(IndexError, __VA_ARGS__)
#define TORCH_CHECK_VALUE(...) GRADUS_CHECK_WITH(ValueError, __VA_ARGS__)
#define TORCH_CHECK_TYPE(...) GRADUS_CHECK_WITH(TypeError, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(...) GRADUS_CHECK_WITH(NotImplementedError, __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
