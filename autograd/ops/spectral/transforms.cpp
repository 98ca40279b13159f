// The three transforms. Each is linear, and its gradient is the transform by the conjugate numbers,
// written with public functions.
#include "gradus/autograd/ops/spectral/transforms.h"

#include <cmath>

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/fourier.h"

namespace gradus::spectral {

namespace {
FourierTransform turned(FourierTransform how) {
  how.inverse = !how.inverse;
  return how;
}
}  // namespace

Tensor transform(const FourierTransform& how, const Tensor& x) {
  if (how.dims.empty()) return x;
  Tensor out = raw::fourier(how, x);
  if (recording(x))
    record("FftC2CBackward0", out, {x}, {},
           [how](Node&, const Tensor& grad) { return Tensors{transform(turned(how), grad)}; });
  return out;
}

Tensor transform_to_half(const FourierTransform& how, const Tensor& x) {
  Tensor out = raw::fourier_half(how, x);
  if (recording(x))
    record("FftR2CBackward0", out, {x}, {},
           [how, n = x.size(how.dims.back())](Node&, const Tensor& grad) {
             const int64_t dim = how.dims.back();
             std::vector<int64_t> pad(static_cast<size_t>(2 * (grad.dim() - dim)), 0);
             pad.back() = n - grad.size(dim);
             return Tensors{real(transform(turned(how), constant_pad_nd(grad, pad)))};
           });
  return out;
}

// Elements that have a conjugate beside them count twice.
Tensor transform_to_real(const FourierTransform& how, const Tensor& x, int64_t n) {
  Tensor out = raw::fourier_real(how, x, n);
  if (recording(x))
    record("FftC2RBackward0", out, {x}, {}, [how, n](Node&, const Tensor& grad) {
      const int64_t dim = how.dims.back(), half = n / 2 + 1;
      const Tensor twice = ones({half}, grad.options());
      twice.narrow(0, 1, n - half).fill_(2);
      Dims sizes = Dims::filled(grad.dim() - dim, 1);
      sizes[0] = half;
      return Tensors{transform_to_half(turned(how), grad) * twice.view(sizes)};
    });
  return out;
}

Tensor promoted(const char* op, const Tensor& x, bool complex) {
  ScalarType dtype = x.operand(op).dtype();
  if (!isFloatingType(dtype) && !isComplexType(dtype)) dtype = get_default_dtype_as_scalartype();
  check<TypeError>(dtype == kFloat || dtype == kDouble || isComplexType(dtype), op,
                   ": Unsupported dtype ", TypeName{dtype}, "; convert with .to(kFloat)");
  if (complex && !isComplexType(dtype)) dtype = toComplexType(dtype);
  return x.to(dtype);
}

double scale_of(const char* op, std::optional<std::string_view> norm, bool forward, double n) {
  const std::string_view mode = norm.value_or("backward");
  if (mode == "ortho") return 1 / std::sqrt(n);
  check(mode == "forward" || mode == "backward" || mode.empty(), op,
        ": Invalid normalization mode: \"", mode,
        "\"; expected \"backward\", \"forward\" or \"ortho\"");
  return (mode == "forward") == forward ? 1 / n : 1;
}

}  // namespace gradus::spectral
