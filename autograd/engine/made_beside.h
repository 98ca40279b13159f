// MadeBeside: a kernel made a tensor beside a result, for the operation that takes the result next.
#pragma once

#include <memory>
#include <optional>

#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

class MadeBeside {
 public:
  MadeBeside() = default;
  // `parameter` of the operation that made the result remembers whether `what` was taken; `what` is
  // undefined where nothing was made. REQUIRES: result is on a GPU, and no inference tensor, which
  // does not count its changes.
  MadeBeside(const Tensor& result, std::weak_ptr<TensorImpl> parameter, Tensor what);

  const Tensor& what() const { return what_; }
  const std::weak_ptr<TensorImpl>& parameter() const { return parameter_; }
  // Whether x is the result itself, and no view of it.
  bool is_of(const Tensor& x) const { return x.is_cuda() && result_.lock() == x.impl_ptr(); }
  // Whether x lies and is as it was made, on the stream that made it. REQUIRES: is_of(x).
  bool is_unchanged(const Tensor& x) const;

 private:
  std::weak_ptr<TensorImpl> result_, parameter_;
  std::weak_ptr<StorageImpl> memory_;
  uint32_t version_ = 0;
  Dims sizes_, strides_;
  std::optional<cuda::Stream> stream_;
  Tensor what_;
};

}  // namespace gradus::autograd
