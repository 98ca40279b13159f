// Functions that make tensors, with libtorch's names and defaults: float32 on the CPU, without
// grad, unless the options say otherwise.
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "gradus/tensor/random.h"
#include "gradus/tensor/tensor.h"
#include "gradus/tensor/tensor_data.h"

namespace gradus {

// Uninitialised elements.
Tensor empty(IntArrayRef size, const TensorOptions& options = {},
             std::optional<MemoryFormat> memory_format = std::nullopt);
// Uninitialised, with strides in elements. Errors: ValueError for a negative one.
Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options = {});
Tensor zeros(IntArrayRef size, const TensorOptions& options = {});
Tensor ones(IntArrayRef size, const TensorOptions& options = {});
// The dtype is that of the value (int64, bool or the default dtype) unless given.
Tensor full(IntArrayRef size, const Scalar& value, TensorOptions options = {});
// One number, without dimensions.
Tensor scalar_tensor(const Scalar& s, const TensorOptions& options = {});
// The identity matrix, n x n or n x m.
Tensor eye(int64_t n, const TensorOptions& options = {});
Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});
// start, start + step, ... below end. int64 where all three are integers, unless given.
// Errors: ValueError where step is 0 or leads away from end.
Tensor arange(const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options = {});
// start to end, both included, by steps of equal size.
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step,
             const TensorOptions& options = {});
Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
// So many numbers from start to end, both included; powers of base with such exponents.
// Errors: ValueError where steps is negative.
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                const TensorOptions& options = {});
Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10.0,
                const TensorOptions& options = {});
// The rows and columns, as (2, n), of the elements of a row x col matrix that tril and triu keep.
// int64 unless given. Errors: TypeError for a dtype of no integers.
Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0,
                    const TensorOptions& options = kLong);
Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0,
                    const TensorOptions& options = kLong);

// Of the shape, dtype and device of `self`, but for what the options say.
Tensor empty_like(const Tensor& self, const TensorOptions& options = {},
                  std::optional<MemoryFormat> memory_format = std::nullopt);
Tensor zeros_like(const Tensor& self, const TensorOptions& options = {},
                  std::optional<MemoryFormat> memory_format = std::nullopt);
Tensor ones_like(const Tensor& self, const TensorOptions& options = {},
                 std::optional<MemoryFormat> memory_format = std::nullopt);
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options = {},
                 std::optional<MemoryFormat> memory_format = std::nullopt);

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
