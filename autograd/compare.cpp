// Whole tensors compared.
#include <cmath>

#include "gradus/autograd/functions.h"
#include "gradus/autograd/grad_mode.h"
#include "gradus/tensor/raw.h"

namespace gradus {

bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }

bool equal(const Tensor& self, const Tensor& other) {
  raw::check_same_device("equal", self, "self", other, "other");
  return self.sizes() == other.sizes() && all(self == other).item<bool>();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  check<TypeError>(self.dtype() == other.dtype(), "isclose: self has dtype ", self.dtype(),
                   ", other ", other.dtype(), "; convert one with .to(...)");
  check(rtol >= 0 && atol >= 0, "isclose: rtol ", rtol, " and atol ", atol, " may not be negative");
  const NoGradGuard guard;
  Tensor close = self == other;
  if (equal_nan && self.is_floating_point())
    close = close.maximum((self != self) * (other != other));
  if (self.dtype() == kBool || (rtol == 0 && atol == 0)) return close;
  // An infinite difference or bound proves nothing.
  const Tensor allowed = (other * rtol).abs() + atol, difference = (self - other).abs();
  return close.maximum((difference <= allowed) * (difference < INFINITY));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return all(isclose(self, other, rtol, atol, equal_nan)).item<bool>();
}

bool is_nonzero(const Tensor& self) {
  check(self.numel() == 1, "is_nonzero: Boolean value of Tensor with ",
        self.numel() == 0 ? "no values" : "more than one value", " is ambiguous: shape ",
        self.sizes(), "; use any() or all()");
  return self.item<bool>();
}

}  // namespace gradus
