// Changes of a tensor's own geometry: the elements stay where they are.
#include "gradus/autograd/inplace.h"
#include "gradus/autograd/record.h"

namespace gradus {

namespace {
// Gives self the geometry and the history of `view`, a view of it.
Tensor& become(const char* op, Tensor& self, const Tensor& view) {
  check_history(op, self, recording(self));
  Edge history = gradient_edge(view);  // as it is before the version changes
  TensorImpl& impl = self.impl();
  const TensorImpl& from = view.impl();
  impl.sizes = from.sizes;
  impl.strides = from.strides;
  impl.contiguous = from.contiguous;
  impl.storage->bump_version();
  if (history.is_valid()) set_history(self, std::move(history.function), history.input_nr);
  impl.history_version = impl.storage->version();
  return self;
}
}  // namespace

Tensor& Tensor::squeeze_() const { return become("squeeze", handle(), squeeze()); }
Tensor& Tensor::squeeze_(int64_t dim) const { return become("squeeze", handle(), squeeze(dim)); }
Tensor& Tensor::squeeze_(IntArrayRef dim) const {
  return become("squeeze", handle(), squeeze(dim));
}
Tensor& Tensor::unsqueeze_(int64_t dim) const {
  return become("unsqueeze", handle(), unsqueeze(dim));
}
Tensor& Tensor::t_() const { return become("t", handle(), t()); }
Tensor& Tensor::transpose_(int64_t dim0, int64_t dim1) const {
  return become("transpose", handle(), transpose(dim0, dim1));
}

}  // namespace gradus
