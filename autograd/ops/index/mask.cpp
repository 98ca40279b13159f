// where, masked_fill, masked_select, masked_scatter, nonzero and argwhere, with their gradients.
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/ops/index/index.h"
#include "gradus/autograd/ops/index/scatter.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

void check_mask(const char* op, const Tensor& mask) {
  check<TypeError>(mask.dtype() == kBool || mask.dtype() == kByte, op, ": mask has dtype ",
                   mask.dtype(), ", expected bool or uint8; compare with 0");
}
void check_mask_beside(const char* op, const Tensor& self, const Tensor& mask) {
  check_mask(op, mask);
  raw::check_same_device(op, self.operand(op), "self", mask, "mask");
}

// A tensor without dimensions as masked_fill takes it.
Tensor filling(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_mask_beside("masked_fill", self, mask);
  check(value.operand("masked_fill", "value").dim() == 0, "masked_fill: value has shape ",
        value.sizes(), ", expected a tensor without dimensions");
  return number_of(self, value);
}

Tensor chosen(const char* node_name, const Tensor& condition, const Tensor& x, const Tensor& y) {
  Tensor out = raw::where(condition, x, y);
  if (recording(x, y) && is_differentiable(out.dtype()))
    record(node_name, out, {x, y}, {condition}, [](Node& n, const Tensor& grad) {
      Tensors grads(2);
      const Tensor which = n.saved(0);
      if (n.wants(0)) grads[0] = where(which, grad, 0);
      if (n.wants(1)) grads[1] = where(which, 0, grad);
      return grads;
    });
  return out;
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return chosen("WhereBackward0", condition, self, other);
}
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  Tensor out = raw::where(condition, self, other);
  if (recording(other) && is_differentiable(out.dtype()))
    record("WhereBackward0", out, {other}, {condition},
           [](Node& n, const Tensor& grad) { return Tensors{where(n.saved(0), 0, grad)}; });
  return out;
}
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  Tensor out = raw::where(condition, self, other);
  if (recording(self) && is_differentiable(out.dtype()))
    record("WhereBackward0", out, {self}, {condition},
           [](Node& n, const Tensor& grad) { return Tensors{where(n.saved(0), grad, 0)}; });
  return out;
}
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  return raw::where(condition, self, other);
}
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  return gradus::where(condition, *this, other);
}
Tensor Tensor::where(const Tensor& condition, const Scalar& other) const {
  return gradus::where(condition, *this, other);
}
Tensors where(const Tensor& condition) { return condition.nonzero_numpy(); }

namespace {
// The tensor that fill writes over; it is read where the graph must know of it.
Tensor to_be_filled(const Tensor& self) {
  return recording(self) ? self.clone() : raw::empty_as(self, self.dtype());
}
}  // namespace

Tensor fill(const Tensor& self, const Scalar& value) { return to_be_filled(self).fill_(value); }
Tensor fill(const Tensor& self, const Tensor& value) {
  check(value.operand("fill", "value").dim() == 0,
        "fill: fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
        " dimensions; use copy_(), which broadcasts");
  return to_be_filled(self).fill_(value);
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return chosen("MaskedFillBackward0", mask, filling(self, mask, value), self);
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  if (recording(self)) return masked_fill(self, mask, number_of(self, value));
  check_mask_beside("masked_fill", self, mask);
  const ScalarType dtype = self.scalar_type();
  raw::check_fits("masked_fill", value, dtype);
  const Scalar number =
      isComplexType(dtype)
          ? value
          : visit(dtype, [&]<class T>(TypeTag<T>) -> Scalar { return value.cast<T>(); });
  return raw::where(mask, number, self);
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const {
  const Tensor number = filling(*this, mask, value);
  const Dims sizes = broadcast_shapes("masked_fill_", this->sizes(), mask.sizes());
  check_output_shape("masked_fill", "_", this->sizes(), sizes);
  return in_place(
      "masked_fill", *this, recording(*this, value),
      [&](Tensor& x) { raw::masked_fill_(x, mask, number); },
      [&](const Tensor& x) { return x.masked_fill(mask, number); });
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const {
  return masked_fill_(mask, number_of(*this, value));
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  check_mask("masked_select", mask);
  const Dims sizes =
      broadcast_shapes("masked_select", self.operand("masked_select").sizes(), mask.sizes());
  if (!recording(self) && self.device() == mask.device())
    return raw::masked_select("masked_select", self.expand(sizes), mask.expand(sizes));
  return gathered("masked_select", "MaskedSelectBackward0", self.expand(sizes).reshape({-1}), 0,
                  raw::flat_nonzero(mask.expand(sizes)));
}

namespace {
// The shape that self and the mask broadcast to.
Dims check_masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_mask_beside("masked_scatter", self, mask);
  raw::check_same_device("masked_scatter", self, "self", source, "source");
  check<TypeError>(self.dtype() == source.dtype(), "masked_scatter: source has dtype ",
                   source.dtype(), ", self has ", self.dtype(), "; convert one with .to(...)");
  return broadcast_shapes("masked_scatter", self.sizes(), mask.sizes());
}
}  // namespace

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const Dims sizes = check_masked_scatter(self, mask, source);
  if (!recording(self, source)) {
    Tensor out = raw::clone(self.expand(sizes));
    raw::masked_scatter_(out, mask, source);
    return out;
  }
  const Tensor places = raw::flat_nonzero(mask.expand(sizes));
  check(source.numel() >= places.numel(), "masked_scatter: source has ", source.numel(),
        " elements, and mask chooses ", places.numel(), "; give source at least as many");
  constexpr Scattering scattering{"masked_scatter", "MaskedScatterBackward0", ScatterOp::set, true};
  return scattering(self.expand(sizes).reshape({-1}), 0, places,
                    source.reshape({-1}).narrow(0, 0, places.numel()))
      .view(sizes);
}

Tensor& Tensor::masked_scatter_(const Tensor& mask, const Tensor& source) const {
  check_output_shape("masked_scatter", "_", this->sizes(),
                     check_masked_scatter(*this, mask, source));
  return in_place(
      "masked_scatter", *this, recording(*this, source),
      [&](Tensor& x) { raw::masked_scatter_(x, mask, source); },
      [&](const Tensor& x) { return x.masked_scatter(mask, source); });
}

Tensor nonzero(const Tensor& self) { return raw::nonzero(self); }
Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  check(size >= 0, "nonzero_static: size is ", size,
        ", expected 0 or more; give the number of rows of the result");
  const Tensor found = nonzero(self);
  const int64_t count = std::min(size, found.size(0));
  const Tensor out = full({size, self.dim()}, fill_value, found.options());
  out.narrow(0, 0, count).copy_(found.narrow(0, 0, count));
  return out;
}
Tensor argwhere(const Tensor& self) { return raw::nonzero(self); }

Tensors nonzero_numpy(const Tensor& self) {
  // A number counts as one of a list of one, so that there is a column to hold the answer.
  const Tensor rows = nonzero(self.dim() ? self : self.reshape({1}));
  Tensors out;
  for (int64_t d = 0; d < rows.size(1); ++d) out.push_back(rows.select(1, d));
  return out;
}

}  // namespace gradus
