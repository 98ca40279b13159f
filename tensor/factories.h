// Functions that make tensors, with libtorch's names and defaults: float32 on the CPU, without
// grad, unless the options say otherwise.
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "gradus/tensor/generator.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// Uninitialised elements.
Tensor empty(IntArrayRef size, const TensorOptions& options = {});
Tensor zeros(IntArrayRef size, const TensorOptions& options = {});
Tensor ones(IntArrayRef size, const TensorOptions& options = {});
// The dtype is that of the value (int64, bool or the default dtype) unless given.
Tensor full(IntArrayRef size, const Scalar& value, TensorOptions options = {});
// The identity matrix, n x n or n x m.
Tensor eye(int64_t n, const TensorOptions& options = {});
Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});
// start, start + step, ... below end. int64 where all three are integers, unless given.
// Errors: ValueError where step is 0 or leads away from end.
Tensor arange(const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options = {});

// Uniform in [0, 1); normal with mean 0 and deviation 1; integers in [low, high) (int64 unless
// given). The same seed gives the same uniform numbers and integers on every device.
Tensor rand(IntArrayRef size, const TensorOptions& options = {});
Tensor randn(IntArrayRef size, const TensorOptions& options = {});
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = {});
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = {});
// 0 ... n-1 in random order, int64 unless given. Drawn on the CPU.
Tensor randperm(int64_t n, const TensorOptions& options = {});
// The rows and columns, as (2, n), of the elements of a row x col matrix that tril and triu keep.
// int64 unless given. Errors: TypeError for a dtype of no integers.
Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0,
                    const TensorOptions& options = kLong);
Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0,
                    const TensorOptions& options = kLong);

// Of the shape, dtype and device of `self`, but for what the options say.
Tensor empty_like(const Tensor& self, const TensorOptions& options = {});
Tensor zeros_like(const Tensor& self, const TensorOptions& options = {});
Tensor ones_like(const Tensor& self, const TensorOptions& options = {});
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options = {});
Tensor rand_like(const Tensor& self, const TensorOptions& options = {});
Tensor randn_like(const Tensor& self, const TensorOptions& options = {});

// The elements of tensor(...): a number, a braced list of any depth, or a std::vector.
class TensorData {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> TensorData(T value)
      : numbers_{Scalar(value)} {}                     // NOLINT: implicit
  TensorData(std::initializer_list<TensorData> rows);  // NOLINT: implicit
  template <class T>
  requires std::is_arithmetic_v<T> TensorData(const std::vector<T>& values)  // NOLINT: implicit
      : sizes_{static_cast<int64_t>(values.size())},
        numbers_(values.begin(), values.end()),
        empty_type_(dtype_of<T>) {}

  const Dims& sizes() const { return sizes_; }
  const std::vector<Scalar>& numbers() const { return numbers_; }
  // int64, bool, or the default dtype for floating point elements.
  ScalarType dtype() const;

 private:
  Dims sizes_;
  std::vector<Scalar> numbers_;
  std::optional<ScalarType> empty_type_;
};

// tensor(1.5), tensor({1, 2, 3}), tensor({{1.0, 2.0}, {3.0, 4.0}}, kCUDA).
// Errors: ValueError where rows differ in length.
Tensor tensor(const TensorData& data, const TensorOptions& options = {});

// A tensor over memory that the caller owns, row-major, of options.dtype(), on the CPU or on the
// CUDA device that the options name. `deleter` runs with the last tensor that uses it.
Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes, std::function<void(void*)> deleter,
                 const TensorOptions& options = {});

}  // namespace gradus
