// div with a rounding mode, pow, float_power, gelu, ldexp, polygamma: composites of the rows of
// elementwise.def.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
template <class Other>
Tensor div_rounded(const Tensor& self, const Other& other, std::optional<std::string_view> mode) {
  if (!mode) return div(self, other);
  if (*mode == "floor") return floor_divide(self, other);
  check(*mode == "trunc", "div: rounding_mode is \"", *mode,
        "\", expected \"trunc\", \"floor\" or nullopt");
  return div_trunc(self, other);
}
}  // namespace

Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  return div_rounded(self, other, mode);
}
Tensor div(const Tensor& self, const Scalar& other, std::optional<std::string_view> mode) {
  return div_rounded(self, other, mode);
}

static Tensor in_float64(const Tensor& x) {
  return x.to(x.is_complex() ? kComplexDouble : kDouble);
}
Tensor float_power(const Tensor& self, const Tensor& exponent) {
  return pow(in_float64(self), in_float64(exponent));
}
Tensor float_power(const Tensor& self, const Scalar& exponent) {
  return pow(in_float64(self), exponent.isComplex() ? exponent : Scalar(exponent.toDouble()));
}
Tensor float_power(const Scalar& self, const Tensor& exponent) {
  return pow(self.isComplex() ? self : Scalar(self.toDouble()), in_float64(exponent));
}

Tensor ldexp(const Tensor& self, const Tensor& other) { return self * exp2(other); }

Tensor gelu(const Tensor& self, std::string_view approximate) {
  if (approximate == "none") return gelu(self);
  check(approximate == "tanh", "gelu: approximate is \"", approximate,
        "\", expected \"none\" or \"tanh\"");
  return gelu_tanh(self);
}

Tensor polygamma(const Tensor& self, int64_t n) {
  check(n >= 0, "polygamma: n is ", n, ", expected 0 or more derivatives");
  return n == 0 ? digamma(self) : digamma_slope(self, n);
}
Tensor polygamma(int64_t n, const Tensor& self) { return polygamma(self, n); }

Tensor positive(const Tensor& self) {
  raw::check_number("positive", self);
  return self;
}

Tensor logical_not(const Tensor& self) {
  return self.dtype() == kBool ? bitwise_not(self) : self == Scalar(0);
}

Tensor bitwise_not(const Tensor& self) {
  return bitwise_xor(self, self.dtype() == kBool ? Scalar(true) : Scalar(-1));
}

}  // namespace gradus
