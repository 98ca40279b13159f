// The common part of several losses: checks of their arguments, and reductions.
#pragma once

#include "gradus/nn/modules/loss.h"

namespace gradus::nn::functional::detail {

// An argument and its name.
struct Named {
  const char* name;
  const Tensor& tensor;
};

// Errors: TypeError where one is complex.
void check_real(const char* op, std::initializer_list<Named> arguments);

// The losses of single elements as `reduction` says. Errors: TypeError where they are complex.
Tensor reduced(const char* op, const Tensor& losses, Reduction reduction);

// x times a weight that broadcasts to its shape; x where there is none.
Tensor weighted(const char* op, const char* name, const Tensor& x, const Tensor& weight);

inline void check_defined(const char* op, std::initializer_list<Named> arguments) {
  for (const auto& [name, tensor] : arguments)
    check(tensor.defined(), op, ": ", name,
          " is undefined, expected a tensor; assign it one first");
}
inline void check_defined(const char* op, const Tensor& input, const Tensor& target) {
  check_defined(op, {{"input", input}, {"target", target}});
}

void check_same_shape(const char* op, const Tensor& input, const Tensor& target);

// Shapes that broadcast to one.
void check_broadcast(const char* op, std::initializer_list<Named> arguments);

// The same number of dimensions, and shapes that broadcast to one.
void check_same_rank(const char* op, std::initializer_list<Named> arguments);

// A floating point type: a share of each class, no class number.
void check_probabilities(const char* op, const Tensor& target);

// int64, or uint8.
void check_class_numbers(const char* op, const Tensor& target);

// A number for each of the classes that lie along dim of input.
void check_class_weight(const char* op, const Tensor& input, int64_t dim, const Tensor& weight);

}  // namespace gradus::nn::functional::detail
