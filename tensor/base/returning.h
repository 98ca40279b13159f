// A function that may return nothing, as one that returns a value.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace gradus {

// f, of a T, which returns a T or what becomes one. Where f returns nothing, it is T().
template <class T, class F>
std::function<T(const T&)> returning(F&& f) {
  if constexpr (std::is_void_v<std::invoke_result_t<std::decay_t<F>&, const T&>>)
    return [call = std::forward<F>(f)](const T& x) mutable {
      call(x);
      return T();
    };
  else
    return std::forward<F>(f);
}

}  // namespace gradus
