// Tensor: a handle to (storage, dtype, device, sizes, strides, offset), with PyTorch's names.
//
// Copying a Tensor copies the handle; views share storage. Methods that compute record the autograd
// graph where an operand requires grad; they are defined in autograd/. `raw::` (tensor/raw.h) holds
// the same operations without a graph.
#pragma once

#include <atomic>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gradus/tensor/options.h"
#include "gradus/tensor/scalar.h"
#include "gradus/tensor/shape.h"
#include "gradus/tensor/storage.h"

namespace gradus {

class Tensor;
using TensorList = std::vector<Tensor>;
class Node;

// What autograd knows of a tensor; autograd/meta.h defines the rest.
struct AutogradMetaBase {
  virtual ~AutogradMetaBase() = default;
};

// How a view was made, where that forbids a recorded change of it in place.
enum class ViewOrigin : uint8_t { recorded, no_grad, inference, multi_output, custom_function };

// What a handle points to.
struct TensorImpl {
  StoragePtr storage;
  ScalarType dtype;
  bool contiguous;
  bool inference;                         // made in InferenceMode
  ViewOrigin origin;                      // of a view
  std::atomic<uint32_t> history_version;  // of the storage, when a view's history was made
  int64_t numel;
  int64_t offset;  // of element 0, in elements from the start of the storage
  Dims sizes;
  Dims strides;                                // in elements; 0 where broadcast
  std::unique_ptr<AutogradMetaBase> autograd;  // null: requires no grad and never did
  std::shared_ptr<TensorImpl> view_of;         // the tensor that this one is a view of, or null
};

class Tensor {
 public:
  Tensor() = default;  // undefined: defined() is false
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  // --- What it is
  bool defined() const { return impl_ != nullptr; }
  int64_t dim() const { return static_cast<int64_t>(impl().sizes.size()); }
  IntArrayRef sizes() const { return impl().sizes; }
  IntArrayRef strides() const { return impl().strides; }
  // Errors: IndexError where dim is out of range.
  int64_t size(int64_t dim) const { return impl().sizes[wrap_dim("size", dim, this->dim())]; }
  int64_t stride(int64_t dim) const { return impl().strides[wrap_dim("stride", dim, this->dim())]; }
  int64_t numel() const { return impl().numel; }
  int64_t storage_offset() const { return impl().offset; }
  ScalarType scalar_type() const { return impl().dtype; }
  ScalarType dtype() const { return impl().dtype; }
  size_t element_size() const { return gradus::element_size(dtype()); }
  size_t itemsize() const { return element_size(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * element_size(); }
  Device device() const { return impl().storage->device(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_contiguous() const { return impl().contiguous; }
  bool is_floating_point() const { return isFloatingType(dtype()); }
  bool is_view() const { return impl().view_of != nullptr; }
  TensorOptions options() const { return TensorOptions(dtype()).device(device()); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  // The memory of element 0; on the device the tensor is on.
  void* data_ptr() const {
    return static_cast<char*>(impl().storage->data()) +
           static_cast<size_t>(impl().offset) * element_size();
  }
  // Errors: TypeError where T is not the tensor's type.
  template <class T>
  T* data_ptr() const {
    check<TypeError>(dtype_of<std::remove_const_t<T>> == dtype(), "data_ptr: the tensor has dtype ",
                     dtype(), ", and ", dtype_of<std::remove_const_t<T>>, " was asked for");
    return static_cast<T*>(data_ptr());
  }

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
  Tensor& requires_grad_(bool requires_grad = true);
  const Tensor& set_requires_grad(bool requires_grad) const;
  // The gradient, undefined until backward() has put one here.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  bool is_leaf() const;
  // What computed this tensor; null for a leaf. That of a view follows changes of its base in place.
  // Errors: Error where such a change concerns a view that does not allow it.
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
  // Calls hook(Tensor) with the gradient of this tensor when it is ready. A hook returns nothing, or a
  // Tensor that, where defined, replaces the gradient and has its shape, dtype and device. Hooks run in
  // the order of their registration, before retain_grad() keeps the gradient.
  // Returns a handle for remove_hook. Errors: Error where the tensor does not require grad.
  template <class Hook>
  unsigned register_hook(Hook&& hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<Hook&, Tensor>>)
      return add_hook([call = std::forward<Hook>(hook)](const Tensor& grad) mutable {
        call(grad);
        return Tensor();
      });
    else
      return add_hook(std::forward<Hook>(hook));
  }
  void remove_hook(unsigned handle) const;
  // Accumulates d(this)/d(leaf) into the leaves' grad(), or into that of `inputs` alone where they
  // are given. `gradient` is required where numel() != 1.
  // Complexity: one visit of each recorded node. Errors: Error where nothing requires grad, or the
  // graph has been freed by an earlier backward.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false,
                const std::optional<TensorList>& inputs = std::nullopt) const;
  // The same memory, outside the graph. data() and variable_data() count as detach() does.
  Tensor detach() const;
  Tensor& detach_();
  Tensor data() const { return detach(); }
  Tensor variable_data() const { return detach(); }
  // Shows new_data's memory from here on; keeps what autograd knows of this tensor.
  // Errors: TypeError where this tensor requires grad and new_data is not of a floating type.
  void set_data(const Tensor& new_data) const;

  // --- Pointwise: the rows of elementwise.def
#define UNARY(name, ...) \
  Tensor name() const;   \
  Tensor& name##_();
#define BINARY(name, ...)                 \
  Tensor name(const Tensor& other) const; \
  Tensor name(const Scalar& other) const; \
  Tensor& name##_(const Tensor& other);   \
  Tensor& name##_(const Scalar& other);
#define COMPARISON(name, ...)             \
  Tensor name(const Tensor& other) const; \
  Tensor name(const Scalar& other) const;
#include "gradus/tensor/elementwise.def"
  // this + alpha * other, this - alpha * other.
  Tensor add(const Tensor& other, const Scalar& alpha) const;
  Tensor sub(const Tensor& other, const Scalar& alpha) const;
  Tensor& add_(const Tensor& other, const Scalar& alpha);
  Tensor& sub_(const Tensor& other, const Scalar& alpha);
  Tensor operator-() const { return neg(); }
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor& operator-=(const Tensor& other) { return sub_(other); }
  Tensor& operator*=(const Tensor& other) { return mul_(other); }
  Tensor& operator/=(const Tensor& other) { return div_(other); }
  Tensor& operator+=(const Scalar& other) { return add_(other); }
  Tensor& operator-=(const Scalar& other) { return sub_(other); }
  Tensor& operator*=(const Scalar& other) { return mul_(other); }
  Tensor& operator/=(const Scalar& other) { return div_(other); }

  // --- Reductions (autograd/functions.h has the meaning of each)
  Tensor sum(std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor sum(OptionalIntArrayRef dim, bool keepdim = false,
             std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor mean(std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor mean(OptionalIntArrayRef dim, bool keepdim = false,
              std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor amax(IntArrayRef dim = {}, bool keepdim = false) const;
  Tensor amin(IntArrayRef dim = {}, bool keepdim = false) const;
  Tensor max() const;
  Tensor min() const;
  // (values, indices) along dim; the first index of several equal ones.
  std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> min(int64_t dim, bool keepdim = false) const;
  Tensor argmax(std::optional<int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor argmin(std::optional<int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor sum_to_size(IntArrayRef size) const;
  Tensor log_softmax(int64_t dim, std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor softmax(int64_t dim, std::optional<ScalarType> dtype = std::nullopt) const;

  // --- Products
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& mat2) const;
  Tensor bmm(const Tensor& mat2) const;
  Tensor mv(const Tensor& vec) const;
  Tensor dot(const Tensor& other) const;

  // --- Shape: views wherever the memory allows
  // The elements at storage_offset + sum of index * stride in this tensor's storage, whatever its own
  // geometry. Errors: ValueError where they would lie outside of it.
  Tensor as_strided(IntArrayRef size, IntArrayRef stride,
                    std::optional<int64_t> storage_offset = std::nullopt) const;
  Tensor view(IntArrayRef size) const;
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape(IntArrayRef shape) const;
  Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1) const;
  Tensor permute(IntArrayRef dims) const;
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor t() const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t dim) const;
  Tensor expand(IntArrayRef size, bool implicit = false) const;
  Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
  Tensor select(int64_t dim, int64_t index) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor operator[](int64_t index) const { return select(0, index); }

  // --- Indexing
  // out[i][j] = this[index[i][j]][j] for dim 0, and so on. Errors: IndexError, on a GPU too.
  Tensor gather(int64_t dim, const Tensor& index) const;
  Tensor scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const;

  // --- Copies and conversions
  Tensor clone() const;
  Tensor contiguous() const;
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(DeviceType device, bool non_blocking = false, bool copy = false) const {
    return to(Device(device), non_blocking, copy);
  }
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
  Tensor cpu() const { return to(kCPU); }
  Tensor cuda() const { return to(kCUDA); }
  Tensor type_as(const Tensor& other) const { return to(other.device(), other.dtype()); }
  Tensor& copy_(const Tensor& src, bool non_blocking = false);
  Tensor& fill_(const Scalar& value);
  Tensor& zero_() { return fill_(0); }
  Tensor& uniform_(double from = 0, double to = 1);
  Tensor& normal_(double mean = 0, double std = 1);

  // For the library itself. REQUIRES: defined(), else Error.
  TensorImpl& impl() const {
    if (!impl_) [[unlikely]]
      undefined();
    return *impl_;
  }
  const std::shared_ptr<TensorImpl>& impl_ptr() const { return impl_; }

 private:
  unsigned add_hook(std::function<Tensor(const Tensor&)> hook) const;
  [[noreturn]] static void undefined();
  std::shared_ptr<TensorImpl> impl_;
};

// As libtorch prints: the elements, then [ CPUFloatType{2,3} ].
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace gradus
