// Stack: joins the examples of a batch along a new dimension 0.
#pragma once

#include "gradus/data/example.h"
#include "gradus/data/transforms/lambda.h"

namespace gradus::data::transforms {

template <class T = Example<>>
struct Stack;

// Errors: ValueError where shapes differ.
template <>
struct Stack<Example<>> : Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};
template <>
struct Stack<TensorExample> : Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

}  // namespace gradus::data::transforms
