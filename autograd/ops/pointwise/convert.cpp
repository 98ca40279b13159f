// to, clone, contiguous and item. Their derivative is the identity: the engine converts a gradient
// to the dtype and device of the tensor that it belongs to.
#include "gradus/autograd/engine/any_dtype.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
Tensor identity(const char* node, const Tensor& self, Tensor out) {
  if (recording(self) && is_differentiable(out.dtype()))
    record(node, out, {self}, {}, [](Node&, const Tensor& grad) { return Tensors{grad}; });
  return out;
}
}  // namespace

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  Tensor out = format == MemoryFormat::Preserve
                   ? raw::empty_as(self, self.scalar_type())
                   : raw::empty(self.sizes(), self.scalar_type(), self.device(), format, "clone");
  raw::copy_(out, self);
  return identity("CloneBackward0", self, std::move(out));
}
Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  return self.is_contiguous(memory_format) ? self : self.clone(memory_format);
}

Tensor Tensor::to(Device device, ScalarType dtype, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  const Device target = backend(device.type()).resolve(device);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  if (target == operand("to").device() && dtype == this->dtype()) {
    if (copy) return clone(format);
    return format == MemoryFormat::Preserve ? *this : contiguous(format);
  }
  // The conversion runs where fewer bytes then travel.
  const bool convert_first = gradus::element_size(dtype) <= itemsize();
  Tensor out = convert_first ? raw::to(raw::to(*this, dtype), target, non_blocking)
                             : raw::to(raw::to(*this, target, non_blocking), dtype);
  if (format != MemoryFormat::Preserve) out = raw::contiguous(out, format);
  if (recording(*this) && is_differentiable(out.dtype())) record_conversion(out, *this);
  return out;
}

Tensor Tensor::to(ScalarType dtype, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  return to(operand("to").device(), dtype, non_blocking, copy, memory_format);
}
Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  check<Error>(
      !options.requires_grad(),
      "to: to(options) expects unset requires_grad flag, but got options.requires_grad set "
      "as true; call requires_grad_() on the result");
  return to(options.device_opt().value_or(operand("to").device()),
            options.dtype_opt().value_or(dtype()), non_blocking, copy,
            memory_format ? memory_format : options.memory_format_opt());
}

Scalar Tensor::item() const { return raw::item(*this); }

}  // namespace gradus
