// Example: what a data set holds under one index, under libtorch's names.
#pragma once

#include <utility>

#include "gradus/tensor/tensor.h"

namespace gradus::data {

namespace example {
using NoTarget = void;
}

// Data and what belongs to them, such as an image and its class. A batch is one as well, with
// tensors that have one more dimension: for (auto& [data, target] : loader).
template <class Data = Tensor, class Target = Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data of, Target belonging) : data(std::move(of)), target(std::move(belonging)) {}

  Data data;
  Target target;
};

// Data alone. Example and Data convert into each other.
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data of) : data(std::move(of)) {}      // NOLINT
  operator Data&() { return data; }              // NOLINT
  operator const Data&() const { return data; }  // NOLINT

  Data data;
};

using TensorExample = Example<Tensor, example::NoTarget>;

}  // namespace gradus::data
