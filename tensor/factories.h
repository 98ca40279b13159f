// Functions that make tensors, with libtorch's names and defaults. Most are rows of tables, which
// say what each does (docs/operators.md).
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "gradus/tensor/tensor.h"
#include "gradus/tensor/tensor_data.h"

namespace gradus {

#define FACTORY(name, params, ...) Tensor name params;
#include "gradus/tensor/table/functions/creation.def"
#include "gradus/tensor/table/functions/random.def"
#undef FACTORY

// tensor(1.5), tensor({1, 2, 3}), tensor({{1.0, 2.0}, {3.0, 4.0}}, kCUDA), tensor(vector). Integers
// become int64 and floating point numbers the default dtype, unless the options say otherwise.
// Errors: ValueError where rows differ in length, TypeError where elements differ in type.
Tensor tensor(const TensorData& data, const TensorOptions& options = {});

// A tensor over memory that the caller owns, row-major or with the strides, of options.dtype(), on
// the CPU or on the CUDA device that the options name. `deleter` runs with the last tensor that
// uses it. Errors: ValueError for null, or negative sizes or strides.
using Deleter = std::function<void(void*)>;
Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes, const Deleter& deleter,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const Deleter& deleter,
                 const TensorOptions& options = {});

}  // namespace gradus
