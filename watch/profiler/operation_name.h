// Names of operations: that of their function of Backend, or of an argument that chooses one.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "gradus/tensor/backend.h"

namespace gradus::profiler {

// The name of an operation that an argument chooses.
template <class Op>
const char* label_of(Op op) {
  return name_of(op);
}
inline const char* label_of(Distribution kind) {
  constexpr const char* names[] = {"uniform", "normal",    "log_normal", "exponential",
                                   "cauchy",  "geometric", "bernoulli",  "randint"};
  return names[static_cast<size_t>(kind)];
}
inline const char* label_of(RandomMap op) {
  return op == RandomMap::dropout ? "dropout" : "bernoulli";
}
inline const char* label_of(CountOp op) { return op == CountOp::poisson ? "poisson" : "binomial"; }
inline const char* label_of(UpdateOp op) {
  constexpr const char* names[] = {
#define OPTIMIZER(name, ...) #name,
#include "gradus/tensor/table/optimizers.def"
  };
  return names[static_cast<size_t>(op)];
}
inline const char* label_of(ConvolutionPass part) {
  constexpr const char* names[] = {"convolution", "convolution_dgrad", "convolution_wgrad"};
  return names[static_cast<size_t>(part)];
}

// Null for arguments that choose no operation.
template <class T>
const char* chosen_name([[maybe_unused]] const T& argument) {
  if constexpr (std::is_enum_v<T> && !std::is_same_v<T, ScatterOp>)
    return label_of(argument);
  else
    return nullptr;
}

// function: that of Backend. chosen: the name that an argument chooses; null where none does.
inline std::string operation_name(std::string_view function, const char* chosen) {
  std::string_view suffix;
  for (const std::string_view end : {"_grads", "_grad"})
    if (function.ends_with(end)) function.remove_suffix(end.size()), suffix = "_backward";
  return std::string(chosen ? std::string_view(chosen) : function).append(suffix);
}

}  // namespace gradus::profiler
