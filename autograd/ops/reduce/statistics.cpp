// var, std, var_mean and std_mean, with their gradients.
#include "gradus/autograd/ops/reduce.h"

namespace gradus {

namespace {

struct Deviations {
  DimMask mask;
  double divisor;  // of the sum of squares; 0 where there are too few elements

  Deviations(const char* op, const Tensor& self, OptionalIntArrayRef dim,
             const std::optional<Scalar>& correction)
      : mask(dim_mask(op, dim, self)) {
    check<TypeError>(is_differentiable(self.dtype()), op,
                     ": std and var only support floating point and complex dtypes, not ",
                     self.dtype(), "; convert with .to(kFloat)");
    const auto n = static_cast<double>(reduced_count(self, mask));
    divisor = std::max(n - correction.value_or(1).toDouble(), 0.0);
  }

  // The gradient of x for one of the variance that has size 1 in the reduced dimensions.
  Tensor backward(const Tensor& grad, const Tensor& x) const {
    const Dims dims = reduced_dims(mask, x.dim());
    return grad * (2 / divisor) * (x - (dims.empty() ? x : x.mean(dims, true)));
  }
};

Tensor variance(const Tensor& self, OptionalIntArrayRef dim,
                const std::optional<Scalar>& correction, bool keepdim) {
  const Deviations from("var", self, dim, correction);
  if (self.is_complex())  // the mean square of |self - mean|
    return variance(real(self), dim, correction, keepdim) +
           variance(imag(self), dim, correction, keepdim);
  const Tensor out = drop(raw::variance(false, from.divisor, self, dim), from.mask, keepdim);
  if (recording(self))
    record("VarBackward0", out, {self}, {self}, [from](Node& n, const Tensor& grad) -> Tensors {
      const Tensor x = n.saved(0);
      return {from.backward(grad.reshape(kept_sizes(x, from.mask)), x)};
    });
  return out;
}

Tensor deviation(const Tensor& self, OptionalIntArrayRef dim,
                 const std::optional<Scalar>& correction, bool keepdim) {
  const Deviations from("std", self, dim, correction);
  if (self.is_complex()) return variance(self, dim, correction, keepdim).sqrt();
  const Tensor out = drop(raw::variance(true, from.divisor, self, dim), from.mask, keepdim);
  if (recording(self))
    record("StdBackward0", out, {self}, {self, out},
           [from](Node& n, const Tensor& grad) -> Tensors {
             const Tensor x = n.saved(0), y = n.saved(1);
             const Tensor of_variance = where(y == 0, 0, grad / (y * 2));
             return {from.backward(of_variance.reshape(kept_sizes(x, from.mask)), x)};
           });
  return out;
}

int correction_of(bool unbiased) { return unbiased ? 1 : 0; }

}  // namespace

Tensor var(const Tensor& self, bool unbiased) {
  return variance(self, std::nullopt, correction_of(unbiased), false);
}
Tensor var(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return variance(self, dim, correction_of(unbiased), keepdim);
}
Tensor var(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
           bool keepdim) {
  return variance(self, dim, correction, keepdim);
}
Tensor var(const Tensor& self, int dim) { return var(self, IntArrayRef({dim}), true); }
Tensor std(const Tensor& self, int dim) { return gradus::std(self, IntArrayRef({dim}), true); }
Tensor std(const Tensor& self, bool unbiased) {
  return deviation(self, std::nullopt, correction_of(unbiased), false);
}
Tensor std(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return deviation(self, dim, correction_of(unbiased), keepdim);
}
Tensor std(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
           bool keepdim) {
  return deviation(self, dim, correction, keepdim);
}

TensorPair var_mean(const Tensor& self, int dim) {
  return {var(self, dim), mean(self, IntArrayRef({dim}))};
}
TensorPair std_mean(const Tensor& self, int dim) {
  return {gradus::std(self, dim), mean(self, IntArrayRef({dim}))};
}
TensorPair var_mean(const Tensor& self, bool unbiased) { return {var(self, unbiased), mean(self)}; }
TensorPair var_mean(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return {var(self, dim, unbiased, keepdim), mean(self, dim, keepdim)};
}
TensorPair var_mean(const Tensor& self, OptionalIntArrayRef dim,
                    const std::optional<Scalar>& correction, bool keepdim) {
  return {var(self, dim, correction, keepdim), mean(self, dim, keepdim)};
}
TensorPair std_mean(const Tensor& self, bool unbiased) {
  return {gradus::std(self, unbiased), mean(self)};
}
TensorPair std_mean(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return {gradus::std(self, dim, unbiased, keepdim), mean(self, dim, keepdim)};
}
TensorPair std_mean(const Tensor& self, OptionalIntArrayRef dim,
                    const std::optional<Scalar>& correction, bool keepdim) {
  return {gradus::std(self, dim, correction, keepdim), mean(self, dim, keepdim)};
}

}  // namespace gradus
