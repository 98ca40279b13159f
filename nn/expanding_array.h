// ExpandingArray: as many numbers as a layer has spatial dimensions, from a list or from one number
// for all: MaxPool2dOptions({3, 2}), MaxPool2dOptions(3).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <ostream>
#include <vector>

#include "gradus/tensor/shape.h"

namespace gradus {

// Errors: ValueError for a list of another length.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray() = default;
  ExpandingArray(T value) { values_.fill(value); }                     // NOLINT: implicit
  ExpandingArray(int64_t value) requires(!std::same_as<T, int64_t>) {  // NOLINT: implicit
    values_.fill(value);
  }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}  // NOLINT: implicit
  ExpandingArray(std::initializer_list<T> list)                        // NOLINT: implicit
      : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& list) : ExpandingArray(ArrayRef<T>(list)) {}  // NOLINT
  ExpandingArray(ArrayRef<T> list) {  // NOLINT: implicit
    check(list.size() == D, "ExpandingArray: Expected ", D, " values, but instead got ",
          list.size(), "; give one number for all dimensions, or ", D);
    std::copy(list.begin(), list.end(), values_.begin());
  }

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }  // NOLINT: implicit
  size_t size() const { return D; }
  const T& operator[](size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool operator==(const ExpandingArray&) const = default;

  // "[3, 2]", and for one dimension "3".
  friend std::ostream& operator<<(std::ostream& stream, const ExpandingArray& array) {
    const char* separator = "";
    if (D > 1) stream << '[';
    for (const T& value : array.values_) {
      stream << separator;
      separator = ", ";
      if constexpr (std::is_arithmetic_v<T>)
        stream << value;
      else
        value ? stream << *value : stream << "None";
    }
    return D > 1 ? stream << ']' : stream;
  }

 private:
  std::array<T, D> values_{};
};

template <class T>
inline constexpr bool is_expanding_array = false;
template <size_t D, class T>
inline constexpr bool is_expanding_array<ExpandingArray<D, T>> = true;

// An array of which some numbers may be left to the input.
template <size_t D>
using ExpandingArrayWithOptionalElem = ExpandingArray<D, std::optional<int64_t>>;

}  // namespace gradus
