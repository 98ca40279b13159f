// What Tensor::index and index_put_ take, with libtorch's names (torch::indexing):
//
//   x.index({0, Slice(1, None, 2), "...", mask})      // Python: x[0, 1::2, ..., mask]
//   x.index_put_({Slice(), index}, 1)                 // Python: x[:, index] = 1
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "gradus/tensor/tensor.h"

namespace gradus::indexing {

// A dimension of size 1; also an end of a Slice that is left out.
inline constexpr std::nullopt_t None = std::nullopt;

// As many whole dimensions as the other indices leave.
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis;

// start, start + step, ... below stop. Negative ends count from the end of the dimension.
class Slice {
 public:
  // Errors: ValueError where step is not positive.
  Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},  // NOLINT: implicit
        std::optional<int64_t> step = {})
      : start_(start), stop_(stop), step_(step.value_or(1)) {
    check(step_ > 0, "Slice: step is ", step_, ", expected a positive number");
  }

  std::optional<int64_t> start() const { return start_; }
  std::optional<int64_t> stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  std::optional<int64_t> start_, stop_;
  int64_t step_;
};

enum class TensorIndexType { None, Ellipsis, Integer, Boolean, Slice, Tensor };

// One index of any kind.
class TensorIndex {
 public:
  TensorIndex(std::nullopt_t) : type_(TensorIndexType::None) {}        // NOLINT: implicit
  TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis) {}  // NOLINT: implicit
  // Errors: ValueError for another text than "...".
  TensorIndex(const char* text) : type_(TensorIndexType::Ellipsis) {  // NOLINT: implicit
    check(std::string_view(text) == "...", "index: the text \"", text,
          "\" is no index; expected \"...\"");
  }
  template <std::integral T>
  TensorIndex(T value)  // NOLINT: implicit
      : type_(std::same_as<T, bool> ? TensorIndexType::Boolean : TensorIndexType::Integer),
        integer_(static_cast<int64_t>(value)) {}
  TensorIndex(const Slice& slice) : type_(TensorIndexType::Slice), slice_(slice) {}  // NOLINT
  TensorIndex(const gradus::Tensor& tensor)                                          // NOLINT
      : type_(TensorIndexType::Tensor), tensor_(tensor) {}

  TensorIndexType type() const { return type_; }
  bool is_none() const { return type_ == TensorIndexType::None; }
  bool is_ellipsis() const { return type_ == TensorIndexType::Ellipsis; }
  bool is_integer() const { return type_ == TensorIndexType::Integer; }
  bool is_boolean() const { return type_ == TensorIndexType::Boolean; }
  bool is_slice() const { return type_ == TensorIndexType::Slice; }
  bool is_tensor() const { return type_ == TensorIndexType::Tensor; }

  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const gradus::Tensor& tensor() const { return tensor_; }

 private:
  TensorIndexType type_;
  int64_t integer_ = 0;
  Slice slice_;
  gradus::Tensor tensor_;
};

}  // namespace gradus::indexing
