// Tensor: a handle to (storage, dtype, device, sizes, strides, offset), with PyTorch's names.
//
// Copying a Tensor copies the handle; views share storage. Methods that compute record the autograd
// graph where an operand requires grad; they are defined in autograd/. `raw::` (tensor/raw/raw.h)
// holds the same operations without a graph.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gradus/tensor/accessor.h"
#include "gradus/tensor/base/returning.h"
#include "gradus/tensor/base/scalar.h"
#include "gradus/tensor/generator.h"
#include "gradus/tensor/options.h"
#include "gradus/tensor/shape.h"
#include "gradus/tensor/tensor_impl.h"

namespace gradus {

class Tensor;
using Tensors = std::vector<Tensor>;
using TensorList = ArrayRef<Tensor>;
using TensorPair = std::tuple<Tensor, Tensor>;
using TensorTie = std::tuple<Tensor&, Tensor&>;
using TensorTriple = std::tuple<Tensor, Tensor, Tensor>;
class DeprecatedTypeProperties;
class Node;
namespace indexing {
class TensorIndex;  // tensor/indexing.h
class Part;
}  // namespace indexing

// Arguments after others: nothing, or a comma and the list.
#define GRADUS_AND(...) __VA_OPT__(, ) __VA_ARGS__

// The rows of functions.def that are methods, too. autograd/functions.h declares the rest.
#define METHOD(result, name, params, ...) result name(const Tensor& self GRADUS_AND params);
#define FUNCTION(...) METHOD(__VA_ARGS__)
#define IN_PLACE(...) METHOD(__VA_ARGS__)
#define UPDATE(...) METHOD(__VA_ARGS__)
#define PAIR(...) METHOD(__VA_ARGS__)
#include "gradus/tensor/table/functions.def"

namespace detail {
// Gives self the value and the history of f(self); `args` are what else f reads.
template <class F, class... Args>
Tensor& update(const char* op, const Tensor& self, F f, const Args&... args);
}  // namespace detail

class Tensor {
 public:
  Tensor() = default;  // undefined: defined() is false
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  ~Tensor() = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  // Assignment to a temporary changes its elements: x[0] = y, x.index({1, Slice(2)}) = 3.
  Tensor& operator=(const Tensor& src) && { return copy_(src); }
  Tensor& operator=(Tensor&& src) && { return copy_(src); }
  Tensor& operator=(const Scalar& value) && { return fill_(value); }

  // --- What it is
  bool defined() const { return impl_ != nullptr; }
  void reset() { impl_.reset(); }
  size_t use_count() const { return static_cast<size_t>(impl_.use_count()); }
  // An undefined tensor has the shape [0], as in libtorch; every other use of it is an Error.
  int64_t dim() const { return static_cast<int64_t>(sizes().size()); }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return impl_ ? IntArrayRef(impl_->sizes) : IntArrayRef(kNoSizes); }
  IntArrayRef strides() const { return impl().strides; }
  // Errors: IndexError where dim is out of range, and for a tensor without dimensions.
  int64_t size(int64_t dim) const { return sizes()[sized_dim("size", dim, this->dim())]; }
  int64_t stride(int64_t dim) const { return strides()[sized_dim("stride", dim, this->dim())]; }
  int64_t numel() const { return impl_ ? impl_->numel : 0; }
  int64_t storage_offset() const { return impl().offset; }
  ScalarType scalar_type() const { return impl().dtype; }
  TypeMeta dtype() const { return impl().dtype; }
  Layout layout() const { return kStrided; }
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  size_t itemsize() const { return gradus::element_size(dtype()); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  Device device() const { return impl().storage->device(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  // -1 on the CPU.
  int64_t get_device() const { return device().index(); }
  bool is_contiguous() const { return impl().contiguous; }
  bool is_contiguous(MemoryFormat format) const;
  // Whether the elements fill a piece of memory, in some order of the dimensions, each once.
  bool is_non_overlapping_and_dense() const { return gradus::is_dense(sizes(), strides()); }
  bool is_floating_point() const { return isFloatingType(dtype()); }
  bool is_complex() const { return isComplexType(dtype()); }
  bool is_signed() const { return isSignedType(dtype()); }
  bool is_view() const { return impl().view_of != nullptr; }
  bool is_alias_of(const Tensor& other) const { return impl().storage == other.impl().storage; }
  bool has_storage() const { return defined(); }
  Storage storage() const { return Storage(impl().storage); }
  // Prints one line to stderr: [CPUFloatType [2, 3]].
  void print() const;
  TensorOptions options() const { return TensorOptions(dtype()).device(device()).layout(layout()); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  // The memory of element 0; on the device the tensor is on.
  void* data_ptr() const {
    return static_cast<char*>(impl().storage->data()) +
           static_cast<size_t>(impl().offset) * itemsize();
  }
  // Errors: TypeError where T is not the tensor's type.
  template <class T>
  T* data_ptr() const {
    constexpr ScalarType asked = dtype_of<std::remove_const_t<T>>;
    check<TypeError>(asked == dtype(), "data_ptr: expected scalar type ", TypeName{asked},
                     " but found ", TypeName{dtype()}, "; convert with .to(k", TypeName{asked},
                     ")");
    return static_cast<T*>(data_ptr());
  }
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  // Elements by their indices: x.accessor<float, 2>()[i][j]. The packed ones may travel to a GPU.
  // Errors: ValueError where the tensor has another number of dimensions, or elements beyond the
  // reach of 32 bits; TypeError where T is not its type.
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_host("accessor"), check_accessor(N, INT64_MAX);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;  // it would outlive the tensor
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    check_accessor(N, INT32_MAX);
    return {data_ptr<T>(), sizes(), strides()};
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    check_accessor(N, INT64_MAX);
    return {data_ptr<T>(), sizes(), strides()};
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> generic_packed_accessor() const& {
    check_accessor(N, std::min<uint64_t>(std::numeric_limits<Index>::max(), INT64_MAX));
    return {data_ptr<T>(), sizes(), strides()};
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> generic_packed_accessor() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, Index>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> packed_accessor() && = delete;

  // The one element as a number; waits for the device. Errors: ValueError where numel() != 1.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  // --- Autograd
  // A view requires grad where its base does.
  bool requires_grad() const;
  // Errors: TypeError for an integer dtype; Error where a non-leaf is told false.
  Tensor& requires_grad_(bool requires_grad = true) const;
  const Tensor& set_requires_grad(bool requires_grad) const;
  // The gradient, undefined until backward() has put one here.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  bool is_leaf() const;
  // The operation that computed this tensor; null for a leaf. For a view it follows changes of the
  // base in place. Errors: Error where such a change concerns a view that does not allow it.
  const std::shared_ptr<Node>& grad_fn() const;
  uint32_t output_nr() const;
  // Counts the changes in place. Errors: Error for an inference tensor, which does not count them.
  uint32_t _version() const;
  bool is_inference() const { return impl().inference; }
  // The tensor that this one is a view of. Errors: Error where it is none.
  Tensor _base() const;
  // Keeps the gradient of a non-leaf in grad().
  void retain_grad() const;
  bool retains_grad() const;
  // Calls hook(Tensor) with the gradient of this tensor when it is ready. A hook returns nothing or
  // a Tensor. A defined Tensor replaces the gradient and has its shape, dtype and device. Hooks run
  // in the order of their registration, before retain_grad() keeps the gradient. Returns a handle
  // for remove_hook. Errors: Error where the tensor does not require grad.
  template <class Hook>
  unsigned register_hook(Hook&& hook) const {
    return add_hook(returning<Tensor>(std::forward<Hook>(hook)), false);
  }
  // Calls hook(Tensor) with this leaf when its grad() has been added to. Returns a handle for
  // remove_hook. Errors: Error where the tensor does not require grad, or is no leaf.
  template <class Hook>
  unsigned register_post_accumulate_grad_hook(Hook&& hook) const {
    return add_hook(returning<Tensor>(std::forward<Hook>(hook)), true);
  }
  void remove_hook(unsigned handle) const;
  // Accumulates d(this)/d(leaf) into the leaves' grad(), or into that of `inputs` alone where they
  // are given. `gradient` is required where numel() != 1.
  // Complexity: one visit of each recorded node. Errors: Error where nothing requires grad, or the
  // graph has been freed by an earlier backward.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false, std::optional<TensorList> inputs = std::nullopt) const;
  // The same memory, outside the graph. data(), variable_data(), tensor_data() count as detach().
  Tensor detach() const;
  Tensor& detach_() const;
  Tensor data() const { return detach(); }
  Tensor variable_data() const { return detach(); }
  Tensor tensor_data() const { return detach(); }
  // Shows new_data's memory from here on; keeps what autograd knows of this tensor.
  // Errors: TypeError where this tensor requires grad and new_data is not of a floating type.
  void set_data(const Tensor& new_data) const;
  // Shows source's memory from here on, or the part of it that as_strided gives (row-major without
  // strides), or none at all. Errors: Error where self or source requires grad, or source is on
  // another device; TypeError where its dtype is another one.
  Tensor& set_(const Tensor& source) const;
  Tensor& set_(const Tensor& source, int64_t storage_offset, IntArrayRef size,
               IntArrayRef stride = {}) const;
  // All of source's memory in one dimension, or a part of it. Errors: ValueError where it is empty.
  Tensor& set_(const Storage& source) const;
  Tensor& set_(const Storage& source, int64_t storage_offset, IntArrayRef size,
               IntArrayRef stride = {}) const;
  Tensor& set_() const;

  // --- Pointwise: the rows of elementwise.def
#define UNARY(name, ...) \
  Tensor name() const;   \
  Tensor& name##_() const;
#define BINARY(name, ...)                     \
  Tensor name(const Tensor& other) const;     \
  Tensor name(const Scalar& other) const;     \
  Tensor& name##_(const Tensor& other) const; \
  Tensor& name##_(const Scalar& other) const;
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...) BINARY(name)
#define PREDICATE(name, ...) Tensor name() const;
#include "gradus/tensor/table/elementwise.def"
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor& operator-=(const Tensor& other) { return sub_(other); }
  Tensor& operator*=(const Tensor& other) { return mul_(other); }
  Tensor& operator/=(const Tensor& other) { return div_(other); }
  Tensor& operator+=(const Scalar& other) { return add_(other); }
  Tensor& operator-=(const Scalar& other) { return sub_(other); }
  Tensor& operator*=(const Scalar& other) { return mul_(other); }
  Tensor& operator/=(const Scalar& other) { return div_(other); }
  Tensor& operator&=(const Tensor& other) { return bitwise_and_(other); }
  Tensor& operator|=(const Tensor& other) { return bitwise_or_(other); }
  Tensor& operator^=(const Tensor& other) { return bitwise_xor_(other); }

  // --- Everything else: the rows of functions.def
#define METHOD(result, name, params, args, ...) \
  result name params const { return gradus::name(operand(#name) GRADUS_AND args); }
#define FUNCTION(...) METHOD(__VA_ARGS__)
#define PAIR(...) METHOD(__VA_ARGS__)
#define IN_PLACE(result, name, params, args, ...)           \
  METHOD(result, name, params, args)                        \
  Tensor& name##_ params const {                            \
    const auto f = [&](const Tensor& self) -> Tensor {      \
      return gradus::name(self GRADUS_AND args);            \
    };                                                      \
    return detail::update(#name, *this, f GRADUS_AND args); \
  }
#define UPDATE(result, name, params, args, ...) \
  METHOD(result, name, params, args)            \
  Tensor& name##_ params const;
#include "gradus/tensor/table/functions.def"
  Tensor& conj_physical_() const;
#define GRADUS_IN_PLACE_OPERATOR(name, of)                         \
  Tensor& name(const Tensor& other) const { return of##_(other); } \
  Tensor& name(const Scalar& other) const { return of##_(other); }
  // NOLINTBEGIN(bugprone-reserved-identifier): libtorch's names
  GRADUS_IN_PLACE_OPERATOR(__iand__, bitwise_and)
  GRADUS_IN_PLACE_OPERATOR(__ior__, bitwise_or)
  GRADUS_IN_PLACE_OPERATOR(__ixor__, bitwise_xor)
  GRADUS_IN_PLACE_OPERATOR(__ilshift__, bitwise_left_shift)
  GRADUS_IN_PLACE_OPERATOR(__irshift__, bitwise_right_shift)
  // NOLINTEND(bugprone-reserved-identifier)
#undef GRADUS_IN_PLACE_OPERATOR
  // self where condition, else other: self is the second operand of the free function.
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;
  // The same bytes as elements of another type. Errors: ValueError where they do not divide so.
  template <std::same_as<ScalarType> T>  // view({}) asks for a shape
  Tensor view(T dtype) const {
    return view_dtype(dtype);
  }
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
  Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
  Tensor operator[](int64_t index) const { return select(0, index); }
  // Errors: IndexError unless the index is a whole number.
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;
  indexing::Part at(ArrayRef<indexing::TensorIndex> indices) const;  // tensor/indexing.h

  // --- Changes of the shape in place; the elements stay where they are
  Tensor& squeeze_() const;
  Tensor& squeeze_(int64_t dim) const;
  Tensor& squeeze_(IntArrayRef dim) const;
  Tensor& unsqueeze_(int64_t dim) const;
  Tensor& transpose_(int64_t dim0, int64_t dim1) const;
  Tensor& swapaxes_(int64_t axis0, int64_t axis1) const { return transpose_(axis0, axis1); }
  Tensor& swapdims_(int64_t dim0, int64_t dim1) const { return transpose_(dim0, dim1); }
  Tensor& t_() const;
  Tensor& as_strided_(IntArrayRef size, IntArrayRef stride,
                      std::optional<int64_t> storage_offset = std::nullopt) const;

  // --- New tensors of this one's dtype and device, but for what the options say
  Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_empty_strided(IntArrayRef size, IntArrayRef stride,
                           const TensorOptions& options = {}) const;
  Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_full(IntArrayRef size, const Scalar& fill_value,
                  const TensorOptions& options = {}) const;

  // --- Copies and conversions
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(TypeMeta dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const {
    return to(dtype.toScalarType(), non_blocking, copy, memory_format);
  }
  Tensor to(DeviceType device, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const {
    return to(Device(device), operand("to").dtype(), non_blocking, copy, memory_format);
  }
  // to("cpu"): a text is a device, and not a name for options.
  Tensor to(const char* device, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const {
    return to(Device(device), operand("to").dtype(), non_blocking, copy, memory_format);
  }
  // Properties that the options leave out stay as they are.
  Tensor to(const TensorOptions& options = {}, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const {
    return to(other.device(), other.dtype(), non_blocking, copy, memory_format);
  }
  Tensor cpu() const { return to(kCPU); }
  Tensor cuda() const { return to(kCUDA); }
  Tensor type_as(const Tensor& other) const { return to(other); }
  Tensor toType(ScalarType dtype) const { return to(dtype); }
  Tensor toBackend(DeviceType backend) const { return to(backend); }
  Tensor& copy_(const Tensor& src, bool non_blocking = false) const;
  Tensor& fill_(const Scalar& value) const;
  // Errors: ValueError unless value has no dimensions.
  Tensor& fill_(const Tensor& value) const;
  // Changes the shape, row-major. The memory is replaced where it is too small. Elements beyond the
  // old ones are uninitialised. Errors: Error where self requires grad.
  Tensor& resize_(IntArrayRef size, std::optional<MemoryFormat> format = std::nullopt) const;
  Tensor& resize_as_(const Tensor& other, std::optional<MemoryFormat> format = std::nullopt) const {
    return resize_(other.sizes(), format);
  }
  Tensor& zero_() const;
  // The elements with equal indices. wrap: of a tall matrix the diagonals below, too, one row
  // apart. Errors: ValueError for fewer than two dimensions, or more of different sizes.
  Tensor& fill_diagonal_(const Scalar& fill_value, bool wrap = false) const;

  // --- Random numbers in place of the elements; generator left out: that of the device.
  // Errors: ValueError for parameters out of range, TypeError for a dtype that does not hold them.
  Tensor& uniform_(double from = 0, double to = 1, std::optional<Generator> generator = {}) const;
  Tensor& normal_(double mean = 0, double std = 1, std::optional<Generator> generator = {}) const;
  Tensor& log_normal_(double mean = 1, double std = 2,
                      std::optional<Generator> generator = {}) const;
  Tensor& exponential_(double lambd = 1, std::optional<Generator> generator = {}) const;
  Tensor& cauchy_(double median = 0, double sigma = 1,
                  std::optional<Generator> generator = {}) const;
  // The number of trials of probability p up to the first success.
  Tensor& geometric_(double p, std::optional<Generator> generator = {}) const;
  Tensor& bernoulli_(double p = 0.5, std::optional<Generator> generator = {}) const;
  Tensor& bernoulli_(const Tensor& p, std::optional<Generator> generator = {}) const;
  // Integers from `from` on and below `to`; left out: as far as the dtype counts exactly.
  Tensor& random_(int64_t from, std::optional<int64_t> to,
                  std::optional<Generator> generator = {}) const;
  Tensor& random_(int64_t to, std::optional<Generator> generator = {}) const;
  Tensor& random_(std::optional<Generator> generator = {}) const;
  // 1 with the probability of the element, or with p, otherwise 0.
  Tensor bernoulli(std::optional<Generator> generator = {}) const;
  Tensor bernoulli(double p, std::optional<Generator> generator = {}) const;
  // Indices drawn by the weights in the last dimension. See gradus::multinomial.
  Tensor multinomial(int64_t num_samples, bool replacement = false,
                     std::optional<Generator> generator = {}) const;

  // --- For programs of libtorch: what is the same for every tensor here
  bool is_quantized() const { return false; }
  bool is_sparse() const { return false; }
  // The format that the strides show; results have it, too.
  MemoryFormat suggest_memory_format() const;
  bool is_conj() const { return false; }
  bool is_neg() const { return false; }
  bool is_distributed() const { return false; }
  // Whether its memory is page-locked.
  bool is_pinned(std::optional<Device> device = std::nullopt) const;
  // A contiguous copy in such memory, or itself. Errors: Error for one of a GPU, and without CUDA.
  Tensor pin_memory(std::optional<Device> device = std::nullopt) const;
  // "CPUFloatType".
  std::string toString() const;
  DeprecatedTypeProperties& type() const;  // for libtorch's programs: defined in compat/
  const std::string& name() const;         // tensors have none of their own
  bool is_variable() const noexcept { return true; }

  // The library itself calls this. REQUIRES: defined(), else Error.
  TensorImpl& impl() const {
    if (!impl_) [[unlikely]]
      undefined();
    return *impl_;
  }
  // This tensor as an argument of op. Errors: Error, which names both, where undefined.
  const Tensor& operand(const char* op, const char* argument = "self") const {
    if (!impl_) [[unlikely]]
      undefined(op, argument);
    return *this;
  }
  const std::shared_ptr<TensorImpl>& impl_ptr() const { return impl_; }
  // Null where undefined.
  TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  // The result of operations in place. These operations are const, as in libtorch: they change the
  // elements and not the handle.
  Tensor& handle() const { return const_cast<Tensor&>(*this); }

 private:
  static constexpr int64_t kNoSizes[] = {0};
  unsigned add_hook(std::function<Tensor(const Tensor&)> hook, bool accumulated) const;
  [[noreturn]] static void undefined(const char* op = nullptr, const char* argument = nullptr);
  void check_accessor(size_t dims, int64_t limit) const;
  void check_host(const char* op) const;
  Tensor view_dtype(ScalarType dtype) const;
  std::shared_ptr<TensorImpl> impl_;
};

// The functions of shape.h for a dimension, or dimensions, of x. Errors: also Error where x is
// undefined.
inline int64_t wrap_dim(const char* op, int64_t dim, const Tensor& x) {
  return wrap_dim(op, dim, x.operand(op).dim());
}
inline std::array<bool, kMaxDims> dim_mask(const char* op, OptionalIntArrayRef dims,
                                           const Tensor& x) {
  return dim_mask(op, dims, x.operand(op).dim());
}

namespace detail {
// Whether f(self) is to be recorded. Errors: where self may not be changed in place.
bool begin_update(const char* op, const Tensor& self, bool others_require_grad);
// Errors: where the result does not fit self.
Tensor& finish_update(const char* op, const Tensor& self, const Tensor& result, bool records);
template <class T>
bool requires_grad(const T& x) {
  if constexpr (std::is_same_v<T, Tensor>)
    return x.defined() && x.requires_grad();
  else if constexpr (std::is_same_v<T, std::optional<Tensor>>)
    return x && requires_grad(*x);
  else
    return false;
}
template <class F, class... Args>
Tensor& update(const char* op, const Tensor& self, F f, const Args&... args) {
  const bool records = begin_update(op, self, (... || requires_grad(args)));
  // A recorded f may keep what it read, so it reads a copy.
  return finish_update(op, self, f(records ? self.clone() : self), records);
}
}  // namespace detail

// Prints as libtorch: elements, [ CPUFloatType{2,3} ]. Lines have line_size characters at most.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t line_size);
void print(const Tensor& tensor, int64_t line_size = 80);

}  // namespace gradus
