// Walks values that hold tensors: tensors, and vectors, arrays, pairs, tuples, maps and optionals
// of them. Other members (numbers, text) are skipped.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::nn {

namespace detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T, class A>
inline constexpr bool kIsVector<std::vector<T, A>> = true;
template <class T>
concept Tuple = requires {
  std::tuple_size<T>::value;
};  // or a pair, or an array
template <class T>
concept Map = requires {
  typename T::mapped_type;
};

// Whether a T holds tensors, and whether it holds nothing else.
template <class T>
constexpr bool holds_tensors(bool nothing_else) {
  const auto tuple = [nothing_else]<size_t... I>(std::index_sequence<I...>) {
    return nothing_else ? (... && holds_tensors<std::tuple_element_t<I, T>>(true))
                        : (... || holds_tensors<std::tuple_element_t<I, T>>(false));
  };
  if constexpr (std::is_same_v<T, Tensor>)
    return true;
  else if constexpr (kIsOptional<T> || kIsVector<T>)
    return holds_tensors<typename T::value_type>(nothing_else);
  else if constexpr (Map<T>)
    return holds_tensors<typename T::mapped_type>(nothing_else);
  else if constexpr (Tuple<T>)
    return tuple(std::make_index_sequence<std::tuple_size_v<T>>());
  else
    return false;
}

[[noreturn]] inline void fail_structure(const char* what) {
  fail("gather: the replicas returned ", what, "; every replica must return the same structure");
}

}  // namespace detail

template <class T>
inline constexpr bool kHoldsTensors = detail::holds_tensors<T>(false);
template <class T>
inline constexpr bool kHoldsTensorsAlone = detail::holds_tensors<T>(true);

// Walks several values of one type together. Calls f(std::vector<Tensor*>) for every tensor of the
// first value, with that tensor and those at the same place of the other values.
// Errors: ValueError where another has more or fewer elements, or other keys.
template <class T, class F>
void for_each_column(const std::vector<T*>& values, F& f) {
  using namespace detail;
  const auto part = [&](auto pick) {
    std::vector<decltype(pick(*values[0]))> parts;
    for (T* value : values) parts.push_back(pick(*value));
    for_each_column(parts, f);
  };
  const auto must_agree = [&](auto property, const char* what) {
    for (T* value : values)
      if (property(*value) != property(*values[0])) fail_structure(what);
  };
  if constexpr (!kHoldsTensors<T>) {
    return;
  } else if constexpr (std::is_same_v<T, Tensor>) {
    f(values);
  } else if constexpr (kIsOptional<T>) {
    must_agree([](const T& x) { return x.has_value(); }, "an optional that is set in one alone");
    if (values[0]->has_value()) part([](T& x) { return &*x; });
  } else if constexpr (kIsVector<T>) {
    must_agree([](const T& x) { return x.size(); }, "lists of different lengths");
    for (size_t i = 0; i < values[0]->size(); ++i) part([i](T& x) { return &x[i]; });
  } else if constexpr (Map<T>) {
    must_agree([](const T& x) { return x.size(); }, "maps of different sizes");
    for (const auto& item : *values[0])
      part([&](T& x) {
        const auto at = x.find(item.first);
        if (at == x.end()) fail_structure("maps with different keys");
        return &at->second;
      });
  } else {
    [&]<size_t... I>(std::index_sequence<I...>) {
      (part([](T& x) { return &std::get<I>(x); }), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  }
}

template <class T>
std::vector<T*> pointers_to(std::vector<T>& values) {
  std::vector<T*> out;
  for (T& value : values) out.push_back(&value);
  return out;
}

}  // namespace gradus::nn
