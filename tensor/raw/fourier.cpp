// The results of Fourier transforms, and the calls of the backend.
#include "gradus/tensor/raw/fourier.h"

namespace gradus::raw {

namespace {
Tensor transformed(const FourierTransform& how, const Tensor& x, int64_t last, ScalarType dtype) {
  Dims sizes(x.sizes().data(), x.sizes().size());
  sizes[how.dims.back()] = last;
  Tensor out = empty(sizes, dtype, x.device(), "fft");
  if (out.numel() > 0) backend(x).fft(how, x, out);
  return out;
}
}  // namespace

Tensor fourier(const FourierTransform& how, const Tensor& x) {
  return transformed(how, x, x.size(how.dims.back()), x.dtype());
}
Tensor fourier_half(const FourierTransform& how, const Tensor& x) {
  return transformed(how, x, x.size(how.dims.back()) / 2 + 1, toComplexType(x.dtype()));
}
Tensor fourier_real(const FourierTransform& how, const Tensor& x, int64_t n) {
  return transformed(how, x, n, toRealValueType(x.dtype()));
}

}  // namespace gradus::raw
