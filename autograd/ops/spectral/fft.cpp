// The functions of torch::fft: their arguments become a shape, the dimensions and a scale for one
// of three transforms.
#include <utility>

#include "gradus/autograd/ops/spectral/transforms.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

using Norm = std::optional<std::string_view>;
using Length = std::optional<int64_t>;

// The dimensions, and how many elements of each are transformed.
struct FourierShape {
  Dims dims, sizes;
  double count() const {
    double out = 1;
    for (int64_t size : sizes) out *= static_cast<double>(size);
    return out;
  }
};

void check_points(const char* op, int64_t n) {
  check(n >= 1, op, ": Invalid number of data points (", n,
        ") specified; expected at least 1, give n or s");
}

// half: x is the first half of the last dimension.
FourierShape one_dimension(const char* op, const Tensor& x, Length n, int64_t dim, bool half) {
  dim = sized_dim(op, dim, x.operand(op).dim());
  const int64_t size = n.value_or(half ? 2 * (x.size(dim) - 1) : x.size(dim));
  check_points(op, size);
  return {{dim}, {size}};
}

FourierShape several_dimensions(const char* op, const Tensor& x, OptionalIntArrayRef s,
                                OptionalIntArrayRef dim, bool half) {
  const int64_t rank = x.operand(op).dim();
  FourierShape out;
  if (dim.has_value()) {
    std::array<bool, kMaxDims> seen{};
    for (int64_t d : dim.value()) {
      d = sized_dim(op, d, rank);
      check(!std::exchange(seen[static_cast<size_t>(d)], true), op,
            ": FFT dims must be unique, and dim ", d, " is listed twice; list it once");
      out.dims.push_back(d);
    }
    check(!s.has_value() || s.value().size() == out.dims.size(), op,
          ": When given, dim and shape arguments must have the same length; s has ",
          s.has_value() ? s.value().size() : 0, " and dim ", out.dims.size());
  } else {
    const int64_t count = s.has_value() ? static_cast<int64_t>(s.value().size()) : rank;
    check(count <= rank, op, ": Got shape with ", count, " values but input tensor only has ", rank,
          " dimensions; give fewer");
    for (int64_t d = rank - count; d < rank; ++d) out.dims.push_back(d);
  }
  for (size_t i = 0; i < out.dims.size(); ++i) {
    const int64_t given = s.has_value() ? s.value()[i] : -1, size = x.size(out.dims[i]);
    const bool last = half && i + 1 == out.dims.size();
    out.sizes.push_back(given != -1 ? given : last ? 2 * (size - 1) : size);
    check_points(op, out.sizes[i]);
  }
  return out;
}

// x with so many elements in each dimension: cut, or followed by zeros.
Tensor resized(const Tensor& x, const FourierShape& shape, bool half) {
  std::vector<int64_t> pad(static_cast<size_t>(2 * x.dim()), 0);
  bool any = false;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    const bool last = half && i + 1 == shape.dims.size();
    const int64_t size = last ? shape.sizes[i] / 2 + 1 : shape.sizes[i];
    const int64_t more = size - x.size(shape.dims[i]);
    pad[static_cast<size_t>(2 * (x.dim() - shape.dims[i]) - 1)] = more;
    any = any || more != 0;
  }
  return any ? constant_pad_nd(x, pad) : x;
}

Tensor to_complex(const char* op, const Tensor& self, const FourierShape& shape, Norm norm,
                  bool forward) {
  const double scale = spectral::scale_of(op, norm, forward, shape.count());
  return spectral::transform({shape.dims, !forward, scale},
                             resized(spectral::promoted(op, self, true), shape, false));
}
void check_real(const char* op, const Tensor& self) {
  check<TypeError>(!self.operand(op).is_complex(), op, " expects a real input tensor, but got ",
                   TypeName{self.dtype()}, "; use real(), or the function for complex numbers");
}
void check_any(const char* op, const FourierShape& shape) {
  check(!shape.dims.empty(), op, " must transform at least one axis; list it in dim");
}
// forward: rfft; else ihfft, whose numbers are the conjugate ones.
Tensor to_half(const char* op, const Tensor& self, const FourierShape& shape, Norm norm,
               bool forward) {
  check_any(op, shape);
  const double scale = spectral::scale_of(op, norm, forward, shape.count());
  const Tensor out = spectral::transform_to_half(
      {shape.dims, false, scale}, resized(spectral::promoted(op, self, false), shape, false));
  return forward ? out : conj(out);
}
// forward: hfft, by the conjugate numbers; else irfft.
Tensor to_real(const char* op, const Tensor& self, const FourierShape& shape, Norm norm,
               bool forward) {
  check_any(op, shape);
  const double scale = spectral::scale_of(op, norm, forward, shape.count());
  const Tensor x = resized(spectral::promoted(op, self, true), shape, true);
  return spectral::transform_to_real({shape.dims, true, scale}, forward ? conj(x) : x,
                                     shape.sizes.back());
}

}  // namespace

// The function of one dimension, of two and of several, each by the same three steps.
#define TRANSFORMS(name, made, half, forward, ...)                                                \
  Tensor fft_##name(const Tensor& self, Length n, int64_t dim, Norm norm) {                       \
    __VA_ARGS__("fft_" #name, self);                                                              \
    return made("fft_" #name, self, one_dimension("fft_" #name, self, n, dim, half), norm,        \
                forward);                                                                         \
  }                                                                                               \
  Tensor fft_##name##n(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,        \
                       Norm norm) {                                                               \
    __VA_ARGS__("fft_" #name "n", self);                                                          \
    return made("fft_" #name "n", self, several_dimensions("fft_" #name "n", self, s, dim, half), \
                norm, forward);                                                                   \
  }                                                                                               \
  Tensor fft_##name##2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {   \
    return fft_##name##n(self, s, dim, norm);                                                     \
  }
namespace {
void check_nothing(const char*, const Tensor&) {}
}  // namespace
TRANSFORMS(fft, to_complex, false, true, check_nothing)
TRANSFORMS(ifft, to_complex, false, false, check_nothing)
TRANSFORMS(rfft, to_half, false, true, check_real)
TRANSFORMS(irfft, to_real, true, false, check_nothing)
TRANSFORMS(hfft, to_real, true, true, check_nothing)
TRANSFORMS(ihfft, to_half, false, false, check_real)
#undef TRANSFORMS

namespace {
// Rolled by (size + more) / 2.
Tensor shifted(const char* op, const Tensor& self, OptionalIntArrayRef dim, int64_t more,
               int64_t sign) {
  std::vector<int64_t> dims, shifts;
  if (dim.has_value())
    for (int64_t d : dim.value()) dims.push_back(wrap_dim(op, d, self.operand(op).dim()));
  else
    for (int64_t d = 0; d < self.operand(op).dim(); ++d) dims.push_back(d);
  for (int64_t d : dims) shifts.push_back(self.dim() > 0 ? sign * ((self.size(d) + more) / 2) : 0);
  return dims.empty() || self.dim() == 0 ? self.clone() : self.roll(shifts, dims);
}
Tensor scaled_frequencies(const char* op, Tensor counts, int64_t n, double d,
                          const TensorOptions& options) {
  check<TypeError>(isFloatingType(options.dtype()) || isComplexType(options.dtype()), op,
                   ": Unsupported dtype ", TypeName{options.dtype()},
                   "; ask for kFloat or kDouble");
  return counts.mul_(1 / (static_cast<double>(n) * d)).set_requires_grad(options.requires_grad());
}
}  // namespace

Tensor fft_fftshift(const Tensor& self, OptionalIntArrayRef dim) {
  return shifted("fft_fftshift", self, dim, 0, 1);
}
Tensor fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim) {
  return shifted("fft_ifftshift", self, dim, 0, -1);
}

Tensor fft_fftfreq(int64_t n, double d, const TensorOptions& options) {
  const TensorOptions plain = options.requires_grad(false);
  const Tensor counts = arange(n, plain.dtype(options.dtype()));
  if (n > 1) counts.narrow(0, (n + 1) / 2, n / 2).sub_(n);
  return scaled_frequencies("fft_fftfreq", counts, n, d, options);
}
Tensor fft_rfftfreq(int64_t n, double d, const TensorOptions& options) {
  const TensorOptions plain = options.requires_grad(false);
  return scaled_frequencies("fft_rfftfreq", arange(n / 2 + 1, plain.dtype(options.dtype())), n, d,
                            options);
}

}  // namespace gradus
