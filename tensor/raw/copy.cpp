// copy_, to, clone, contiguous, fill_ and item.
#include <atomic>

#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/math/convert.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

namespace {
// dst and src differ in dtype, of which one is complex or both are. A real number has the imaginary
// part 0; the imaginary part of a complex one is dropped, but for bool, where it counts as well.
void copy_parts(const Tensor& dst, const Tensor& src) {
  if (dst.is_complex() && src.is_complex())
    return copy_(raw::view_as_real(dst), raw::view_as_real(src));
  static std::atomic<bool> warned = false;
  if (src.is_complex() && dst.dtype() != kBool && warns_again(warned))
    warn(
        "to: Casting complex values to real discards the imaginary part; take real() if that is "
        "meant");
  if (src.is_complex())
    return copy_(dst, dst.dtype() == kBool ? zip(BinaryOp::ne, src, Scalar(0)) : part_of(src, 0));
  copy_(part_of(dst, 0), src);
  fill_(part_of(dst, 1), 0);
}
}  // namespace

void copy_(const Tensor& dst, const Tensor& src, bool non_blocking) {
  const Tensor from =
      src.sizes() == dst.sizes()
          ? src
          : as_strided(src, dst.impl().sizes,
                       broadcast_strides("copy_", src.sizes(), src.strides(), dst.sizes()),
                       src.storage_offset());
  if (dst.numel() == 0) return;
  if (from.device() == dst.device()) {
    if (from.dtype() != dst.dtype() && (from.is_complex() || dst.is_complex()))
      return copy_parts(dst, from);
    const bool at_once = converts_at_once(from.dtype(), dst.dtype());
    backend(dst).copy(at_once ? from : to(from, computed_type(from.dtype())), dst);
  } else {
    // Convert where the data lies, send it as one block, spread it where it arrives.
    const Tensor block = raw::contiguous(to(from, dst.dtype()));
    const Tensor landing = dst.is_contiguous() ? dst : empty_like(dst);
    // The backend of a GPU moves the data both ways; that of meta only receives.
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
  const auto check_type = [&]<class T>(TypeTag<T>) {
    if (!value.fits<T>()) value.fail_to_fit(op, cpp_name<T>, "convert the tensor to a wider dtype");
  };
  if (dtype == kComplexFloat) return check_type(TypeTag<std::complex<float>>{});
  if (dtype == kComplexDouble) return;
  visit(dtype, check_type);
}

void fill_(const Tensor& x, const Scalar& value) {
  check_fits("fill", value, x.dtype());
  if (x.numel() == 0) return;
  if (!x.is_complex()) return backend(x).fill(x, value);
  const auto number = value.toComplexDouble();
  if (number.real() == number.imag()) return fill_(raw::view_as_real(x), number.real());
  backend(x).fill(part_of(x, 0), number.real());
  backend(x).fill(part_of(x, 1), number.imag());
}

Scalar item(const Tensor& x) {
  check(x.operand("item").numel() == 1, "item: a Tensor with ", x.numel(),
        " elements cannot be converted to Scalar; expected one, not shape ", x.sizes(),
        "; reduce it first, or index one element");
  if (!x.is_cpu()) return item(to(x, Device(kCPU)));
  const void* const element = x.data_ptr();
  if (x.dtype() == kComplexFloat) return *static_cast<const std::complex<float>*>(element);
  if (x.dtype() == kComplexDouble) return *static_cast<const std::complex<double>*>(element);
  return visit(x.scalar_type(), [&](auto tag) -> Scalar {
    return *static_cast<const typename decltype(tag)::type*>(element);
  });
}

}  // namespace gradus::raw
