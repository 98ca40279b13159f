// torch::special: libtorch's second names of functions that pointwise operations and reductions
// are.
#pragma once

#include "gradus/autograd/functions.h"

#define GRADUS_OF_ONE(name, of)                                       \
  inline Tensor name(const Tensor& self) { return gradus::of(self); } \
  inline Tensor& name##_out(Tensor& out, const Tensor& self) { return gradus::of##_out(out, self); }
#define GRADUS_FORM_OF_TWO(name, of, Left, Right)                                              \
  inline Tensor name(const Left& self, const Right& other) { return gradus::of(self, other); } \
  inline Tensor& name##_out(Tensor& out, const Left& self, const Right& other) {               \
    return gradus::detail::write_out(#of, out, gradus::of(self, other));                       \
  }
#define GRADUS_OF_TWO(name, of)                \
  GRADUS_FORM_OF_TWO(name, of, Tensor, Tensor) \
  GRADUS_FORM_OF_TWO(name, of, Tensor, Scalar) \
  GRADUS_FORM_OF_TWO(name, of, Scalar, Tensor)

namespace gradus {

#define SPECIAL_OF_ONE(name, of) GRADUS_OF_ONE(special_##name, of)
#define SPECIAL_OF_TWO(name, of) GRADUS_OF_TWO(special_##name, of)
#include "gradus/compat/ATen/ops/special.def"

inline Tensor special_log_softmax(const Tensor& self, int64_t dim,
                                  std::optional<ScalarType> dtype = std::nullopt) {
  return log_softmax(self, dim, dtype);
}
inline Tensor special_softmax(const Tensor& self, int64_t dim,
                              std::optional<ScalarType> dtype = std::nullopt) {
  return softmax(self, dim, dtype);
}
inline Tensor special_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return logsumexp(self, dim, keepdim);
}
inline Tensor& special_logsumexp_out(Tensor& out, const Tensor& self, IntArrayRef dim,
                                     bool keepdim = false) {
  return logsumexp_out(out, self, dim, keepdim);
}
inline Tensor special_multigammaln(const Tensor& self, int64_t p) { return mvlgamma(self, p); }
inline Tensor& special_multigammaln_out(Tensor& out, const Tensor& self, int64_t p) {
  return mvlgamma_out(out, self, p);
}
inline Tensor special_polygamma(int64_t n, const Tensor& self) { return polygamma(n, self); }
inline Tensor& special_polygamma_out(Tensor& out, int64_t n, const Tensor& self) {
  return polygamma_out(out, n, self);
}

namespace special {

#define SPECIAL_OF_ONE(name, of) GRADUS_OF_ONE(name, of)
#define SPECIAL_OF_TWO(name, of) GRADUS_OF_TWO(name, of)
#include "gradus/compat/ATen/ops/special.def"

inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return gradus::log_softmax(self, dim, dtype);
}
inline Tensor logit(const Tensor& self, std::optional<double> eps) {
  return gradus::logit(self, eps);
}
inline Tensor& logit_out(Tensor& out, const Tensor& self, std::optional<double> eps) {
  return gradus::logit_out(out, self, eps);
}
inline Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) {
  return gradus::logsumexp(self, dims, keepdim);
}
inline Tensor& logsumexp_out(Tensor& out, const Tensor& self, IntArrayRef dims, bool keepdim) {
  return gradus::logsumexp_out(out, self, dims, keepdim);
}
inline Tensor multigammaln(const Tensor& self, int64_t p) { return mvlgamma(self, p); }
inline Tensor& multigammaln_out(Tensor& out, const Tensor& self, int64_t p) {
  return mvlgamma_out(out, self, p);
}
inline Tensor polygamma(int64_t n, const Tensor& self) { return gradus::polygamma(n, self); }
inline Tensor& polygamma_out(Tensor& out, int64_t n, const Tensor& self) {
  return gradus::polygamma_out(out, n, self);
}
inline Tensor round(const Tensor& self, int64_t decimals) { return gradus::round(self, decimals); }
inline Tensor& round_out(Tensor& out, const Tensor& self, int64_t decimals) {
  return gradus::round_out(out, self, decimals);
}
inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return gradus::softmax(self, dim, dtype);
}

}  // namespace special

#undef GRADUS_OF_ONE
#undef GRADUS_FORM_OF_TWO
#undef GRADUS_OF_TWO

}  // namespace gradus
