// torch::special: libtorch's second names of functions that pointwise operations and reductions
// are.
#pragma once

#include "gradus/autograd/functions.h"

namespace gradus::special {

inline Tensor digamma(const Tensor& self) { return gradus::digamma(self); }
inline Tensor erf(const Tensor& self) { return gradus::erf(self); }
inline Tensor erfc(const Tensor& self) { return gradus::erfc(self); }
inline Tensor erfinv(const Tensor& self) { return gradus::erfinv(self); }
inline Tensor exp2(const Tensor& self) { return gradus::exp2(self); }
inline Tensor expit(const Tensor& self) { return sigmoid(self); }
inline Tensor expm1(const Tensor& self) { return gradus::expm1(self); }
inline Tensor gammaln(const Tensor& self) { return lgamma(self); }
inline Tensor i0(const Tensor& self) { return gradus::i0(self); }
inline Tensor log1p(const Tensor& self) { return gradus::log1p(self); }
inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return gradus::log_softmax(self, dim, dtype);
}
inline Tensor logit(const Tensor& self) { return gradus::logit(self); }
inline Tensor logit(const Tensor& self, std::optional<double> eps) {
  return gradus::logit(self, eps);
}
inline Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) {
  return gradus::logsumexp(self, dims, keepdim);
}
inline Tensor multigammaln(const Tensor& self, int64_t p) { return mvlgamma(self, p); }
inline Tensor polygamma(int64_t n, const Tensor& self) { return gradus::polygamma(n, self); }
inline Tensor psi(const Tensor& self) { return gradus::digamma(self); }
inline Tensor round(const Tensor& self) { return gradus::round(self); }
inline Tensor round(const Tensor& self, int64_t decimals) { return gradus::round(self, decimals); }
inline Tensor sinc(const Tensor& self) { return gradus::sinc(self); }
inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return gradus::softmax(self, dim, dtype);
}
inline Tensor xlogy(const Tensor& self, const Tensor& other) { return gradus::xlogy(self, other); }
inline Tensor xlogy(const Scalar& self, const Tensor& other) { return gradus::xlogy(self, other); }
inline Tensor xlogy(const Tensor& self, const Scalar& other) { return gradus::xlogy(self, other); }

}  // namespace gradus::special
