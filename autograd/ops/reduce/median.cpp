// median, nanmedian and mode.
#include "gradus/autograd/ops/reduce.h"

#include <cmath>

namespace gradus {

namespace {

TensorPair median_along(const char* op, const char* node, const Tensor& self, int64_t dim,
                        bool keepdim, bool ignores_nan) {
  raw::check_number(op, self);
  const DimMask mask = mask_of(op, dim, self);
  const int64_t d = wrap_dim(op, dim, self);
  raw::check_reducible(op, self, d);
  const auto [values, indices] = raw::median(op, self, d, ignores_nan);
  const Tensor out = drop(values, mask, keepdim);
  record_selection(node, out, self, d, indices);
  return {out, drop(indices, mask, keepdim)};
}

// The median of nothing, as in PyTorch: NaN, or the least number of an integer type.
Scalar median_of_none(ScalarType dtype) {
  if (isFloatingType(dtype)) return NAN;
  if (!isSignedType(dtype)) return 0;
  return INT64_MIN >> (64 - 8 * element_size(dtype));
}

Tensor median_of_all(const char* op, const char* node, const Tensor& self, bool ignores_nan) {
  raw::check_number(op, self);
  raw::check_ordered(op, self);
  const Tensor list = self.detach().reshape({-1});
  const Tensor out = list.numel() == 0
                         ? full({}, median_of_none(self.scalar_type()), self.options())
                         : drop(raw::median(op, list, 0, ignores_nan).values, {true});
  if (recording(self))
    record(node, out, {self}, {self, out}, [](Node& n, const Tensor& grad) -> Tensors {
      const Tensor x = n.saved(0);
      return {shared_evenly(grad, x, n.saved(1), dim_mask("median", {}, x), true)};
    });
  return out;
}

}  // namespace

Tensor median(const Tensor& self) {
  return median_of_all("median", "MedianBackward0", self, false);
}
TensorPair median(const Tensor& self, int64_t dim, bool keepdim) {
  return median_along("median", "MedianBackward1", self, dim, keepdim, false);
}
Tensor nanmedian(const Tensor& self) {
  return median_of_all("nanmedian", "NanmedianBackward0", self, true);
}
TensorPair nanmedian(const Tensor& self, int64_t dim, bool keepdim) {
  return median_along("nanmedian", "NanmedianBackward1", self, dim, keepdim, true);
}

TensorPair mode(const Tensor& self, int64_t dim, bool keepdim) {
  const DimMask mask = mask_of("mode", dim, self);
  const int64_t d = wrap_dim("mode", dim, self);
  raw::check_reducible("mode", self, d);
  const auto [values, indices] = raw::mode(self, d);
  const Tensor out = drop(values, mask, keepdim);
  record_selection("ModeBackward0", out, self, d, indices);
  return {out, drop(indices, mask, keepdim)};
}

}  // namespace gradus
