#include "gradus/autograd/inplace.h"

#include "gradus/autograd/record.h"
#include "gradus/tensor/raw.h"

namespace gradus {

void check_in_place(const char* op, const Tensor& x, bool records) {
  for (int64_t d = 0; d < x.dim(); ++d)
    check(x.strides()[d] != 0 || x.sizes()[d] <= 1, op, "_: self has shape ", x.sizes(),
          " and strides ", x.strides(),
          ": several of its elements share memory, as expand() makes them; clone() it first");
  if (GradMode::is_enabled()) {
    check<Error>(!x.is_leaf() || !x.requires_grad(), op,
                 "_: a leaf Variable that requires grad is being used in an in-place operation; "
                 "do it under NoGradGuard, or on a clone()");
    if (x.is_view()) {
      const Tensor base(x.impl().view_of);
      check<Error>(!base.is_leaf() || !base.requires_grad(), op,
                   "_: a view of a leaf Variable that requires grad is being used in an in-place "
                   "operation; do it under NoGradGuard, or on a clone()");
    }
  }
  check<NotImplementedError>(!records || !x.is_view(), op,
                             "_: a recorded change in place of a view is not supported; compute a "
                             "new tensor instead, or clone() the view first");
}

void adopt(const Tensor& x, const Tensor& result) {
  check(result.sizes() == x.sizes(), "in-place operation: the result has shape ", result.sizes(),
        ", which does not fit self of shape ", x.sizes());
  check<TypeError>(kind_of(result.dtype()) <= kind_of(x.dtype()),
                   "in-place operation: the result of dtype ", result.dtype(),
                   " cannot be stored in a tensor of ", x.dtype());
  const Tensor fitted = result.dtype() == x.dtype() ? result : result.to(x.dtype());
  raw::copy_(x, fitted);
  x.impl().storage->bump_version();
  ensure_meta(x).rebased += 1;
  set_history(x, fitted.grad_fn(), fitted.output_nr());
}

Tensor& Tensor::copy_(const Tensor& src, bool non_blocking) {
  const bool records = recording(*this, src);
  check_in_place("copy", *this, records);
  broadcast_strides("copy_", src.sizes(), src.strides(), sizes());
  if (records && src.requires_grad()) {
    adopt(*this, src.to(device(), dtype(), non_blocking, /*copy=*/true).expand(sizes()));
    return *this;
  }
  const bool overlaps = src.impl().storage == impl().storage && !src.is_same(*this);
  raw::copy_(*this, overlaps ? raw::clone(src) : src, non_blocking);
  impl().storage->bump_version();
  if (records) {  // overwritten: nothing of the old history is left
    ensure_meta(*this).rebased += 1;
    detach_();
  }
  return *this;
}

Tensor& Tensor::fill_(const Scalar& value) {
  const bool records = recording(*this);
  check_in_place("fill", *this, records);
  raw::fill_(*this, value);
  impl().storage->bump_version();
  if (records) {
    ensure_meta(*this).rebased += 1;
    detach_();
  }
  return *this;
}

Tensor& Tensor::resize_(IntArrayRef size) {
  if (sizes() == size) return *this;
  check<Error>(!requires_grad(), "resize_: the tensor requires grad; resize a detach()ed one");
  const int64_t numel = checked_numel("resize_", size);
  const size_t needed =
      (static_cast<size_t>(numel) + static_cast<size_t>(storage_offset())) * element_size();
  if (needed > impl().storage->nbytes()) {
    const Tensor larger = raw::empty(size, dtype(), device());
    const int64_t kept = std::min(numel, this->numel());
    raw::copy_(raw::narrow(larger.view({numel}), 0, 0, kept),
               raw::narrow(raw::contiguous(detach()).view({this->numel()}), 0, 0, kept));
    impl().storage = larger.impl().storage;
    impl().offset = 0;
  }
  impl().sizes = Dims(size.data(), size.size());
  impl().strides = contiguous_strides(size);
  impl().numel = numel;
  impl().contiguous = true;
  return *this;
}

}  // namespace gradus
