// libtorch's checks and warnings: TORCH_CHECK(x > 0, "x is ", x). c10::Error is gradus::Error.
#pragma once

#include <sstream>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/warning.h"

namespace gradus {

// The parts as a stream prints them, joined.
template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  ((out << parts), ...);
  return out.str();
}

// The elements of a container, with the delimiter between them.
template <class Container>
std::string Join(const std::string& delimiter, const Container& parts) {
  std::string out;
  for (auto part = parts.begin(); part != parts.end(); ++part)
    out += str(part == parts.begin() ? "" : delimiter, *part);
  return out;
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
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) TORCH_CHECK(false __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_WARN(...) \
  ::gradus::Warning::warn({__func__, __FILE__, __LINE__}, ::gradus::str(__VA_ARGS__))
#define TORCH_WARN_ONCE(...)                                           \
  do {                                                                 \
    static std::atomic<bool> gradus_warned = false;                    \
    if (::gradus::warns_again(gradus_warned)) TORCH_WARN(__VA_ARGS__); \
  } while (false)

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
