// Sizes and strides: views of them (ArrayRef), owned ones (Dims), and the arithmetic of shapes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/memory_format.h"

namespace gradus {

// Tensors have at most this many dimensions.
inline constexpr int64_t kMaxDims = 16;

// Owned sizes or strides, without heap memory.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(values.begin(), values.size()) {}
  // Errors: ValueError where count > kMaxDims.
  Dims(const int64_t* values, size_t count) {
    resize(count);
    for (size_t i = 0; i < count; ++i) data_[i] = values[i];
  }
  Dims(const Dims& other) : Dims(other.data_, static_cast<size_t>(other.size_)) {}
  Dims& operator=(const Dims& other) {
    size_ = other.size_;
    for (int64_t i = 0; i < size_; ++i) data_[i] = other.data_[i];
    return *this;
  }
  static Dims filled(int64_t count, int64_t value) {
    Dims out;
    out.resize(static_cast<size_t>(count));
    for (int64_t& v : out) v = value;
    return out;
  }

  // New elements are unset. Errors: ValueError where count > kMaxDims.
  void resize(size_t count) {
    check(count <= static_cast<size_t>(kMaxDims), "a tensor of ", count, " dimensions; at most ",
          kMaxDims, " are supported; flatten some of them");
    size_ = static_cast<int64_t>(count);
  }
  void push_back(int64_t value) {
    resize(static_cast<size_t>(size_) + 1);
    data_[size_ - 1] = value;
  }
  void insert(int64_t position, int64_t value);
  void erase(int64_t position);

  size_t size() const { return static_cast<size_t>(size_); }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return data_; }
  const int64_t* data() const { return data_; }
  int64_t* begin() { return data_; }
  int64_t* end() { return data_ + size_; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  template <class I>
  int64_t& operator[](I i) {
    return data_[static_cast<size_t>(i)];
  }
  template <class I>
  const int64_t& operator[](I i) const {
    return data_[static_cast<size_t>(i)];
  }
  int64_t back() const { return data_[size_ - 1]; }

 private:
  int64_t size_ = 0;
  int64_t data_[kMaxDims];
};

// A view of consecutive constant elements. REQUIRES: the elements outlive the view.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}  // NOLINT
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end)
      : ArrayRef(begin, static_cast<size_t>(end - begin)) {}
  template <size_t N>
  constexpr ArrayRef(const T (&list)[N]) : data_(list), size_(N) {}  // NOLINT
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // a list outlives the call it is passed to
#endif
  constexpr ArrayRef(std::initializer_list<T> list)  // NOLINT
      : data_(list.begin()), size_(list.size()) {}
#ifndef __clang__
#pragma GCC diagnostic pop
#endif
  template <class A>
  ArrayRef(const std::vector<T, A>& list) : data_(list.data()), size_(list.size()) {}  // NOLINT
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& list) : data_(list.data()), size_(N) {}  // NOLINT
  ArrayRef(const Dims& dims)                                                          // NOLINT
      requires std::is_same_v<T, int64_t> : data_(dims.data()),
                                            size_(dims.size()) {}

  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr auto rbegin() const { return std::reverse_iterator(end()); }
  constexpr auto rend() const { return std::reverse_iterator(begin()); }
  template <class I>
  constexpr const T& operator[](I i) const {
    return data_[static_cast<size_t>(i)];
  }
  // Errors: IndexError where there is no such element.
  constexpr const T& at(size_t i) const {
    check<IndexError>(i < size_, "ArrayRef::at: index ", i, " of ", size_, " elements");
    return data_[i];
  }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr ArrayRef slice(size_t start, size_t count) const { return {data_ + start, count}; }
  constexpr ArrayRef slice(size_t start) const { return slice(start, size_ - start); }
  std::vector<T> vec() const { return {begin(), end()}; }
  bool equals(ArrayRef other) const { return *this == other; }

  friend constexpr bool operator==(ArrayRef a, ArrayRef b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

using IntArrayRef = ArrayRef<int64_t>;

// A list of dimensions that may be left out: sum(), sum(1), sum({0, 1}).
class OptionalIntArrayRef {
 public:
  OptionalIntArrayRef() = default;
  OptionalIntArrayRef(std::nullopt_t) {}                                              // NOLINT
  OptionalIntArrayRef(IntArrayRef value) : has_value_(true), value_(value) {}         // NOLINT
  OptionalIntArrayRef(const int64_t& one) : OptionalIntArrayRef(IntArrayRef(one)) {}  // NOLINT
  OptionalIntArrayRef(std::initializer_list<int64_t> list)                            // NOLINT
      : OptionalIntArrayRef(IntArrayRef(list)) {}
  OptionalIntArrayRef(const std::vector<int64_t>& list)  // NOLINT
      : OptionalIntArrayRef(IntArrayRef(list)) {}
  OptionalIntArrayRef(const Dims& dims) : OptionalIntArrayRef(IntArrayRef(dims)) {}  // NOLINT

  bool has_value() const { return has_value_; }
  IntArrayRef value() const { return value_; }

 private:
  bool has_value_ = false;
  IntArrayRef value_;
};

std::ostream& operator<<(std::ostream& out, IntArrayRef list);

// [2, 3]
void append(std::string& out, IntArrayRef list);
inline void append(std::string& out, const Dims& dims) { append(out, IntArrayRef(dims)); }

// Product of the sizes. Errors: ValueError on a negative size or an overflow of int64.
int64_t checked_numel(std::string_view op, IntArrayRef sizes);
int64_t numel_of(IntArrayRef sizes);

// Row-major strides, in elements.
Dims contiguous_strides(IntArrayRef sizes);
bool is_contiguous(IntArrayRef sizes, IntArrayRef strides);
// The strides of a memory format; Preserve: row-major ones.
// Errors: ValueError where such a format has another number of dimensions.
Dims strides_of(MemoryFormat format, IntArrayRef sizes);
// Whether strides are these, but for dimensions of size 1.
bool lies_in(MemoryFormat format, IntArrayRef sizes, IntArrayRef strides);
// ChannelsLast or ChannelsLast3d where strides decrease in its order, as PyTorch reads them; else
// Contiguous.
MemoryFormat suggested_format(IntArrayRef sizes, IntArrayRef strides);
// Whether the elements fill a piece of memory, in some order of the dimensions, each once.
bool is_dense(IntArrayRef sizes, IntArrayRef strides);

// dim in [-rank, rank) becomes one in [0, rank); a tensor of rank 0 takes 0 and -1, as in PyTorch.
// Errors: IndexError that names op.
int64_t wrap_dim(std::string_view op, int64_t dim, int64_t rank);
// The same for a dimension whose size is read: a tensor of rank 0 has none.
int64_t sized_dim(std::string_view op, int64_t dim, int64_t rank);

// mask[d]: whether dimension d of `rank` is listed. An empty list means all of them.
// Errors: IndexError out of range, ValueError where one is listed twice.
std::array<bool, kMaxDims> dim_mask(std::string_view op, OptionalIntArrayRef dims, int64_t rank);

// The shape that both broadcast to. Errors: ValueError that names op, both shapes and the
// dimension.
Dims broadcast_shapes(std::string_view op, IntArrayRef a, IntArrayRef b);

bool broadcasts_to(IntArrayRef sizes, IntArrayRef target);
// Strides with which a tensor of `sizes`/`strides` is read as `target` (0 where it broadcasts).
// Errors: ValueError where it cannot.
Dims broadcast_strides(std::string_view op, IntArrayRef sizes, IntArrayRef strides,
                       IntArrayRef target);

// Checks that a result has the shape of the tensor it is written to. Errors: ValueError that names
// op followed by form (add, _) and both shapes.
void check_output_shape(const char* op, const char* form, IntArrayRef output, IntArrayRef result);

// Replaces a -1 in `shape` so that it has `numel` elements.
// Errors: ValueError for two -1, a size below -1, or a shape of another number of elements.
Dims infer_size(std::string_view op, IntArrayRef shape, int64_t numel);

// Strides under which the same memory reads as `shape`, or nothing where a copy is needed.
std::optional<Dims> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape);

}  // namespace gradus
