// max, min, amax, amin, aminmax, argmax and argmin, with their gradients.
#include "gradus/autograd/ops/reduce.h"

namespace gradus {

namespace {

Tensor extreme(ReduceOp op, const char* node, const Tensor& self, OptionalIntArrayRef dim,
               bool keepdim, bool nan_equals_nan = false) {
  const DimMask mask = dim_mask(name_of(op), dim, self);
  const Tensor kept = raw::reduce(op, self, dim);
  const Tensor out = drop(kept, mask, keepdim);
  if (recording(self))
    record(node, out, {self}, {self, out},
           [=, shape = kept.impl().sizes](Node& n, const Tensor& grad) -> Tensors {
             return {shared_evenly(grad.reshape(shape), n.saved(0), n.saved(1).reshape(shape), mask,
                                   nan_equals_nan)};
           });
  return out;
}

TensorPair extreme_and_index(const char* op, const char* node, bool largest, const Tensor& self,
                             int64_t dim, bool keepdim) {
  const DimMask mask = mask_of(op, dim, self);
  const auto [values, indices] = raw::arg_reduce(op, largest, self, dim);
  const Tensor out = drop(values, mask, keepdim);
  record_selection(node, out, self, dim, indices);
  return {out, drop(indices, mask, keepdim)};
}

Tensor index_of_extreme(const char* op, bool largest, const Tensor& self,
                        std::optional<int64_t> dim, bool keepdim) {
  raw::check_number(op, self);
  if (dim)
    return drop(raw::arg_reduce(op, largest, self, *dim).indices, mask_of(op, *dim, self), keepdim);
  raw::check_reducible(op, self);
  const Tensor index = raw::arg_reduce(op, largest, self.detach().reshape({-1}), 0).indices;
  return index.reshape(keepdim ? Dims::filled(self.dim(), 1) : Dims{});
}

}  // namespace

Tensor amax(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return extreme(ReduceOp::amax, "AmaxBackward0", self, dim, keepdim);
}
Tensor amin(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return extreme(ReduceOp::amin, "AminBackward0", self, dim, keepdim);
}
TensorPair aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (!dim && !recording(self.operand("aminmax")) && self.numel() > 0) {  // in one pass
    const Tensor both = raw::aminmax(self);
    const Dims shape = Dims::filled(keepdim ? self.dim() : 0, 1);
    const Tensor greatest = raw::clone(raw::as_strided(both, shape, shape, 1));
    return {raw::alias(both, shape, shape), greatest};  // each has a version of its own
  }
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return {amin(self, dims, keepdim), amax(self, dims, keepdim)};
}
Tensor max(const Tensor& self) {
  raw::check_reducible("max", self);
  return extreme(ReduceOp::amax, "MaxBackward1", self, {}, false, true);
}
Tensor min(const Tensor& self) {
  raw::check_reducible("min", self);
  return extreme(ReduceOp::amin, "MinBackward1", self, {}, false, true);
}
TensorPair max(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_and_index("max", "MaxBackward0", true, self, dim, keepdim);
}
TensorPair min(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_and_index("min", "MinBackward0", false, self, dim, keepdim);
}
Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }
Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }
Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return index_of_extreme("argmax", true, self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return index_of_extreme("argmin", false, self, dim, keepdim);
}

}  // namespace gradus
