// What Tensor::index and index_put_ take, with libtorch's names (torch::indexing):
//
//   x.index({0, Slice(1, None, 2), "...", mask})      // Python: x[0, 1::2, ..., mask]
//   x.index_put_({Slice(), index}, 1)                 // Python: x[:, index] = 1
//   y = x.at({Slice(), index}).set(1)                 // JAX: y = x.at[:, index].set(1)
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::indexing {

// A dimension of size 1; also an end of a Slice that is left out.
inline constexpr std::nullopt_t None = std::nullopt;

// Stands for as many whole dimensions as the other indices leave.
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis;

// The ends of a Slice that are left out.
inline constexpr int64_t INDEX_MIN = INT64_MIN, INDEX_MAX = INT64_MAX;

// start, start + step, ... below stop. Negative ends count from the end of the dimension. A
// negative step can be written, and no tensor takes it.
class Slice {
 public:
  // Errors: ValueError where step is 0.
  Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},  // NOLINT: implicit
        std::optional<int64_t> step = {})
      : step_(step.value_or(1)) {
    check(step_ != 0, "Slice: slice step cannot be zero; expected a positive number");
    start_ = start.value_or(step_ < 0 ? INDEX_MAX : 0);
    stop_ = stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX);
  }

  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};

// One index of any kind.
class TensorIndex {
 public:
  enum class Kind { none, ellipsis, integer, boolean, slice, tensor };

  TensorIndex(std::nullopt_t) : kind_(Kind::none) {}         // NOLINT: implicit
  TensorIndex(EllipsisIndexType) : kind_(Kind::ellipsis) {}  // NOLINT: implicit
  // Errors: ValueError for another text than "...".
  TensorIndex(const char* text) : kind_(Kind::ellipsis) {  // NOLINT: implicit
    check(std::string_view(text) == "...",
          "index: Expected \"...\" to represent an ellipsis index, but got \"", text, "\"");
  }
  template <std::integral T>
  TensorIndex(T value)  // NOLINT: implicit
      : kind_(std::same_as<T, bool> ? Kind::boolean : Kind::integer),
        integer_(static_cast<int64_t>(value)) {}
  TensorIndex(const Slice& slice) : kind_(Kind::slice), slice_(slice) {}  // NOLINT
  TensorIndex(const gradus::Tensor& tensor)                               // NOLINT
      : kind_(Kind::tensor), tensor_(tensor) {}

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_ellipsis() const { return kind_ == Kind::ellipsis; }
  bool is_integer() const { return kind_ == Kind::integer; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_slice() const { return kind_ == Kind::slice; }
  bool is_tensor() const { return kind_ == Kind::tensor; }

  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const gradus::Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  gradus::Tensor tensor_;
};

// A part of a tensor, from Tensor::at. The tensor stays as it is, and gradients go to it and to the
// values. Errors: those of index and index_put.
class Part {
 public:
  Part(const gradus::Tensor& whole, ArrayRef<TensorIndex> indices)
      : whole_(whole.operand("at")), indices_(indices.begin(), indices.end()) {}

  gradus::Tensor get() const { return whole_.index(indices_); }
  // A copy of the tensor in which the part has these values, or they are added to it. Where an
  // element is named twice, the last value is set, and all are added.
  gradus::Tensor set(const gradus::Tensor& values) const {
    return whole_.index_put(indices_, values);
  }
  gradus::Tensor set(const Scalar& value) const { return whole_.index_put(indices_, value); }
  gradus::Tensor add(const gradus::Tensor& values) const {
    return whole_.index_put(indices_, values, true);
  }
  gradus::Tensor add(const Scalar& value) const { return whole_.index_put(indices_, value, true); }

 private:
  gradus::Tensor whole_;
  std::vector<TensorIndex> indices_;
};

// 1:5:2, None, ..., and so on.
std::ostream& operator<<(std::ostream& out, const Slice& slice);
std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
// (None, ..., 1:5:2)
std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices);

}  // namespace gradus::indexing

namespace gradus {
inline indexing::Part Tensor::at(ArrayRef<indexing::TensorIndex> indices) const {
  return {*this, indices};
}
}  // namespace gradus
