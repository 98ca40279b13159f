// Normalised powers of e, computed about the largest element, so that they do not overflow.
#include "gradus/autograd/reduce.h"

#include <cmath>

namespace gradus {

namespace {

// What log_softmax and softmax share; y = forward(x - max(x), d), without a graph.
template <class Forward, class Backward>
Tensor soft(const char* op, const char* node, const Tensor& self, int64_t dim,
            std::optional<ScalarType> dtype, Forward forward, Backward backward) {
  const int64_t d = wrap_dim(op, dim, self.dim());
  const Tensor x = dtype ? self.to(*dtype) : self;
  check<TypeError>(x.is_floating_point(), op, ": dtype ", x.dtype(),
                   " is not a floating point type; convert with .to(kFloat), or pass dtype");
  Tensor y;
  {
    const NoGradGuard guard;
    const Tensor wide = widened(x);
    y = x.numel() == 0 ? raw::clone(x) : raw::to(forward(wide - wide.amax(d, true), d), x.dtype());
  }
  if (recording(x))
    record(node, y, {x}, {y}, [d, backward](Node& n, const Tensor& grad) -> TensorList {
      return {backward(grad, n.saved(0), d)};
    });
  return y;
}

}  // namespace

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return soft(
      "log_softmax", "LogSoftmaxBackward0", self, dim, dtype,
      [](const Tensor& centred, int64_t d) { return centred - centred.exp().sum(d, true).log(); },
      [](const Tensor& grad, const Tensor& y, int64_t d) {
        return grad - y.exp() * grad.sum(d, true);
      });
}

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return soft(
      "softmax", "SoftmaxBackward0", self, dim, dtype,
      [](const Tensor& centred, int64_t d) {
        const Tensor powers = centred.exp();
        return powers / powers.sum(d, true);
      },
      [](const Tensor& grad, const Tensor& y, int64_t d) {
        return y * (grad - (grad * y).sum(d, true));
      });
}

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const DimMask mask = dim_mask("logsumexp", dim, self.dim());
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
           [shape](Node& n, const Tensor& grad) -> TensorList {
             return {grad.reshape(shape) * (n.saved(0) - n.saved(1).reshape(shape)).exp()};
           });
  return out;
}

}  // namespace gradus
