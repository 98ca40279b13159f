// equal, allclose, isclose, is_nonzero: whole tensors compared.
#include <cmath>
#include <cstring>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }

// Part by part, so that what is compared stays in the cache, and ends at the first difference.
static bool equal_in_parts(const Tensor& self, const Tensor& other) {
  const int64_t n = self.numel(), part = 32768 * get_num_threads();
  const auto equal_part = [](const Tensor& x, const Tensor& y) {
    const Tensor same = raw::zip(BinaryOp::eq, x, y);
    return !std::memchr(same.data_ptr(), 0, static_cast<size_t>(same.numel()));
  };
  if (n <= part) return equal_part(self, other);
  const auto line = [n](const Tensor& t) {
    return raw::as_strided(t, {n}, {1}, t.storage_offset());
  };
  const Tensor x = line(self), y = line(other);
  for (int64_t begin = 0; begin < n; begin += part) {
    const int64_t length = std::min(part, n - begin);
    if (!equal_part(raw::narrow(x, 0, begin, length), raw::narrow(y, 0, begin, length)))
      return false;
  }
  return true;
}

bool equal(const Tensor& self, const Tensor& other) {
  raw::check_same_device("equal", self, "self", other, "other");
  if (self.sizes() != other.sizes()) return false;
  // The same integers; of floating point numbers NaN differs from itself.
  if (!is_differentiable(self.dtype()) && self.dtype() == other.dtype() &&
      self.impl().storage == other.impl().storage && self.strides() == other.strides() &&
      self.storage_offset() == other.storage_offset())
    return true;
  if (self.is_cpu() && self.is_contiguous() && other.is_contiguous())
    return equal_in_parts(self, other);
  return all(self == other).item<bool>();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  self.operand("isclose"), other.operand("isclose", "other");
  check<TypeError>(self.dtype() == other.dtype(), "isclose: self has dtype ", self.dtype(),
                   ", other ", other.dtype(), "; convert one with .to(...)");
  check(rtol >= 0 && atol >= 0, "isclose: rtol ", rtol, " and atol ", atol, " may not be negative");
  const NoGradGuard guard;
  Tensor close = self == other;
  if (equal_nan && is_differentiable(self.dtype()))
    close = close.maximum((self != self) * (other != other));
  if (rtol == 0 && atol == 0) return close;
  // Differences of integers wrap around.
  const ScalarType dtype =
      is_differentiable(self.dtype()) ? self.scalar_type() : get_default_dtype_as_scalartype();
  const Tensor x = self.to(dtype), y = other.to(dtype);
  // An infinite difference or bound proves nothing.
  const Tensor allowed = (y * rtol).abs() + atol, difference = (x - y).abs();
  return close.maximum((difference <= allowed) * (difference < INFINITY));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return all(isclose(self, other, rtol, atol, equal_nan)).item<bool>();
}

bool is_nonzero(const Tensor& self) {
  check(self.operand("is_nonzero").numel() == 1, "is_nonzero: Boolean value of Tensor with ",
        self.numel() == 0 ? "no values" : "more than one value", " is ambiguous: shape ",
        self.sizes(), "; use any() or all()");
  return self.item<bool>();
}

}  // namespace gradus
