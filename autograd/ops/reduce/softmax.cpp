// softmax, log_softmax and logsumexp, with their gradients. The largest element is subtracted
// first, so that nothing overflows.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/ops/reduce.h"

#include <cmath>

namespace gradus {

namespace {

// dy/dx applied to grad, for y = softmax(x, dim) or log_softmax(x, dim).
Tensor gradient(bool log, const Tensor& grad, const Tensor& y, int64_t dim) {
  if (!GradMode::is_enabled()) return raw::softmax_grad(log, grad, y, dim);
  if (log) return grad - y.exp() * grad.sum(dim, true);
  return y * (grad - (grad * y).sum(dim, true));
}

Tensor soft(bool log, const char* node, const Tensor& x, int64_t dim,
            std::optional<ScalarType> dtype) {
  if (dtype && *dtype != x.scalar_type()) return soft(log, node, x.to(*dtype), dim, {});
  const Tensor y = raw::softmax(log, x, dim);
  if (recording(x)) {
    const int64_t d = wrap_dim(node, dim, x);
    record(node, y, {x}, {y}, [log, d](Node& n, const Tensor& grad) -> Tensors {
      return {gradient(log, grad, n.saved(0), d)};
    });
  }
  return y;
}

}  // namespace

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(log_softmax, self, dim, dtype);
  return soft(true, "LogSoftmaxBackward0", self, dim, dtype);
}

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(softmax, self, dim, dtype);
  return soft(false, "SoftmaxBackward0", self, dim, dtype);
}

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  GRADUS_AUTOCAST(logsumexp, self, dim, keepdim);
  const DimMask mask = dim_mask("logsumexp", dim, self);
  check<TypeError>(!self.is_complex(), "logsumexp: not implemented for '", TypeName{self.dtype()},
                   "'; compute with real() and imag()");
  const Tensor x = self.is_floating_point() ? self : self.to(get_default_dtype());
  const Dims shape = kept_sizes(x, mask);
  Tensor kept;
  {
    const NoGradGuard guard;
    const Tensor wide = widened(x);
    if (x.numel() == 0) {
      kept = wide.sum(dim, true).log();
    } else {
      const Tensor largest = wide.amax(dim, true);
      // An infinite one is no point to compute about.
      const Tensor about = where(largest.abs() == INFINITY, 0, largest);
      kept = (wide - about).exp().sum(dim, true).log() + about;
    }
    kept = raw::to(kept, x.dtype());
  }
  const Tensor out = drop(kept, mask, keepdim);
  if (recording(x))
    record("LogsumexpBackward0", out, {x}, {x, out},
           [shape](Node& n, const Tensor& grad) -> Tensors {
             return {grad.reshape(shape) * (n.saved(0) - n.saved(1).reshape(shape)).exp()};
           });
  return out;
}

}  // namespace gradus
