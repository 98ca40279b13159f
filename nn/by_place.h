// Options from the arguments of Python's module, which takes them by place: Conv2d(3, 8, 3, 1).
#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/nn/expanding_array.h"
#include "gradus/nn/nested.h"

namespace gradus::nn::detail {

// Whether an Arg can mean nothing but this option: a number keeps its kind, and a switch is a bool.
template <class T, class Arg>
constexpr bool means() {
  using Given = std::remove_cvref_t<Arg>;
  if constexpr (kIsOptional<T>) {
    using Value = typename T::value_type;
    // One number for a list that may be as long as the input has dimensions.
    constexpr bool is_short = kIsVector<Value> && std::is_arithmetic_v<Given>;
    return std::is_same_v<Given, std::nullopt_t> || std::is_same_v<Given, T> ||
           (!is_short && means<Value, Arg>());
  } else if constexpr (!std::is_arithmetic_v<Given>)
    return !std::is_arithmetic_v<T> && std::is_convertible_v<Arg, T>;
  else if constexpr (std::is_same_v<T, bool> || std::is_same_v<Given, bool>)
    return std::is_same_v<T, Given>;
  else if constexpr (std::is_arithmetic_v<T>)
    return std::is_integral_v<Given> || std::is_floating_point_v<T>;
  else if constexpr (is_expanding_array<T>)
    return means<std::remove_cvref_t<decltype(std::declval<T>()[0])>, Arg>();
  else  // kernel sizes, or a shape of one dimension
    return std::is_integral_v<Given> &&
           (std::is_convertible_v<Arg, T> || std::is_same_v<T, std::vector<int64_t>>);
}

template <class T, class Arg>
T option_of(Arg&& arg) {
  if constexpr (std::is_arithmetic_v<std::remove_cvref_t<Arg>> && kIsVector<T>)
    return {arg};
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(arg);
  else
    return std::forward<Arg>(arg);
}

template <class Options>
using Places = decltype(std::declval<Options&>().places());

// The types of an options struct's places.
template <class Options, size_t I>
using Place = std::remove_reference_t<std::tuple_element_t<I, Places<Options>>>;

template <class Options, class... Args>
constexpr bool all_mean() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return (... && means<Place<Options, I>, Args>());
  }
  (std::index_sequence_for<Args...>());
}

// Whether Options has places for these arguments, and each can mean its option alone.
template <class Options, class... Args>
constexpr bool takes_by_place() {
  if constexpr (!requires { typename Places<Options>; })
    return false;
  else if constexpr (sizeof...(Args) < std::max<size_t>(Options::argument_count, 1) ||
                     sizeof...(Args) > std::tuple_size_v<Places<Options>>)
    return false;
  else
    return all_mean<Options, Args...>();
}
template <class Options, class... Args>
inline constexpr bool by_place = takes_by_place<Options, Args...>();

// REQUIRES: by_place.
template <class Options, class... Args>
Options options_by_place(Args&&... args) {
  std::tuple<Args&&...> given(std::forward<Args>(args)...);
  const auto option = [&]<size_t I>(std::integral_constant<size_t, I>) {
    return option_of<Place<Options, I>>(std::get<I>(std::move(given)));
  };
  // The constructor's arguments first: defaults of the other options follow from them.
  Options out = [&]<size_t... I>(std::index_sequence<I...>) {
    return Options(option(std::integral_constant<size_t, I>())...);
  }
  (std::make_index_sequence<Options::argument_count>());
  [&]<size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] auto places = out.places();
    ((std::get<I + Options::argument_count>(places) =
          option(std::integral_constant<size_t, I + Options::argument_count>())),
     ...);
  }
  (std::make_index_sequence<sizeof...(Args) - Options::argument_count>());
  return out;
}

}  // namespace gradus::nn::detail
