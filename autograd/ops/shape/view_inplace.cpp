// as_strided_, squeeze_, transpose_, set_: a tensor's own geometry changes, its elements stay.
#include "gradus/autograd/engine/as_strided.h"
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/raw/raw.h"

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
  impl.offset = from.offset;
  impl.numel = from.numel;
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
Tensor& Tensor::as_strided_(IntArrayRef size, IntArrayRef stride,
                            std::optional<int64_t> storage_offset) const {
  return become("as_strided", handle(), as_strided(size, stride, storage_offset));
}

Tensor& Tensor::set_(const Tensor& source, int64_t storage_offset, IntArrayRef size,
                     IntArrayRef stride) const {
  check<Error>(!requires_grad() && !source.requires_grad(),
               "set_: ", requires_grad() ? "the tensor" : "source",
               " requires grad, and no gradient passes; detach() it");
  check<TypeError>(source.dtype() == dtype(), "set_: source has dtype ", source.dtype(),
                   ", the tensor ", dtype(), "; convert source with .to(...)");
  check<Error>(source.device() == device(), "set_: source is on ", source.device(),
               ", the tensor on ", device(), "; expected one device");
  check_history("set", *this, false);
  const Dims row_major = stride.empty() ? contiguous_strides(size) : Dims();
  const Geometry part = checked_geometry(
      "set_", source, size, stride.empty() ? IntArrayRef(row_major) : stride, storage_offset);
  set_data(raw::as_strided(source.detach(), part.sizes, part.strides, part.offset));
  impl().view_of = nullptr;
  impl().creation_meta = autograd::CreationMeta::DEFAULT;
  return handle();
}
Tensor& Tensor::set_(const Tensor& source) const {
  return set_(source, source.storage_offset(), source.sizes(), source.strides());
}
Tensor& Tensor::set_(const Storage& source, int64_t storage_offset, IntArrayRef size,
                     IntArrayRef stride) const {
  check(static_cast<bool>(source), "set_: source is an empty Storage; take that of a tensor");
  const auto elements = static_cast<int64_t>(source.nbytes() / itemsize());
  return set_(raw::over_storage(source.impl_ptr(), {elements}, dtype()), storage_offset, size,
              stride);
}
Tensor& Tensor::set_(const Storage& source) const {
  const size_t nbytes = source ? source.nbytes() : 0;
  return set_(source, 0, {static_cast<int64_t>(nbytes / itemsize())}, {1});
}
Tensor& Tensor::set_() const { return set_(raw::empty({0}, dtype(), device())); }

}  // namespace gradus
