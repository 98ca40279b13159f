// copy_, to, clone, contiguous, fill_ and item.
#include "gradus/tensor/math/convert.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

void copy_(const Tensor& dst, const Tensor& src, bool non_blocking) {
  const Tensor from =
      src.sizes() == dst.sizes()
          ? src
          : as_strided(src, dst.impl().sizes,
                       broadcast_strides("copy_", src.sizes(), src.strides(), dst.sizes()),
                       src.storage_offset());
  if (dst.numel() == 0) return;
  if (from.device() == dst.device()) {
    const bool at_once = converts_at_once(from.dtype(), dst.dtype());
    backend(dst).copy(at_once ? from : to(from, computed_type(from.dtype())), dst);
  } else {
    // Convert where the data lies, send it as one block, spread it where it arrives.
    const Tensor block = raw::contiguous(to(from, dst.dtype()));
    const Tensor landing = dst.is_contiguous() ? dst : empty_like(dst);
    const bool receives = dst.is_meta() || (dst.is_cuda() && !block.is_meta());
    backend(receives ? dst : block).transfer(block, landing, non_blocking);
    if (!dst.is_contiguous()) backend(dst).copy(landing, dst);
  }
}

Tensor clone(const Tensor& x) {
  Tensor out = empty_like(x);
  copy_(out, x);
  return out;
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : raw::clone(x); }
Tensor contiguous(const Tensor& x, MemoryFormat format) {
  if (x.is_contiguous(format)) return x;
  Tensor out = empty(x.sizes(), x.scalar_type(), x.device(), format);
  copy_(out, x);
  return out;
}

Tensor to(const Tensor& x, ScalarType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor out = empty_as(x, dtype);
  copy_(out, x);
  return out;
}

Tensor to(Tensor&& x, ScalarType dtype) {
  if (x.scalar_type() == dtype) return std::move(x);
  return to(x, dtype);
}

Tensor to(const Tensor& x, Device device, bool non_blocking) {
  const Device target = backend(device.type()).resolve(device);
  if (x.device() == target) return x;
  if (!x.is_contiguous() && x.is_non_overlapping_and_dense()) {
    const Tensor all = to(alias(x, {x.numel()}, {1}), target, non_blocking);
    return as_strided(all, x.impl().sizes, x.impl().strides, 0);
  }
  Tensor out = empty(x.sizes(), x.dtype(), target);
  copy_(out, x, non_blocking);
  return out;
}

void check_fits(std::string_view op, const Scalar& value, ScalarType dtype) {
  visit(dtype, [&]<class T>(TypeTag<T>) {
    if (!value.fits<T>()) value.fail_to_fit(op, cpp_name<T>, "convert the tensor to a wider dtype");
  });
}

void fill_(const Tensor& x, const Scalar& value) {
  check_fits("fill", value, x.dtype());
  if (x.numel() > 0) backend(x).fill(x, value);
}

Scalar item(const Tensor& x) {
  check(x.operand("item").numel() == 1, "item: a Tensor with ", x.numel(),
        " elements cannot be converted to Scalar; expected one, not shape ", x.sizes(),
        "; reduce it first, or index one element");
  const Tensor here = to(x, Device(kCPU));
  return visit(here.dtype(), [&](auto tag) -> Scalar {
    return *static_cast<const typename decltype(tag)::type*>(here.data_ptr());
  });
}

}  // namespace gradus::raw
