// relu's kin of two or three pieces: leaky_relu, prelu, elu, celu, glu, hardtanh, hardshrink,
// softshrink, softplus, threshold. Where the pieces meet, the slope is PyTorch's.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/operand.h"

namespace gradus {

namespace {

// A number as dtype takes it: without its fraction beside integers. Errors: ValueError unless it
// fits.
Scalar of_kind(const char* op, const Scalar& number, ScalarType dtype) {
  raw::check_fits(op, number, dtype);
  return isFloatingType(dtype) ? number : Scalar(number.toLong());
}

// A bound that PyTorch rounds to x's dtype. Errors: ValueError unless it fits.
double edge_of(const char* op, const Tensor& x, const Scalar& bound) {
  raw::check_fits(op, bound, x.dtype());
  return raw::as_element(bound, x.dtype()).toDouble();
}

Tensor leaky(const char* node, const Tensor& self, double slope) {
  return one_node(
      node, self,
      [=](const Tensor& x) {
        return raw::ternary(TernaryOp::leaky_relu, x, Scalar(slope), Scalar(0));
      },
      [=](const Tensor& grad, const Tensor& x) { return where(x > 0, grad, grad * slope); });
}

// The gradient where x lies beyond -edge and edge, 0 between them.
Tensor outside(double edge, const Tensor& grad, const Tensor& x) {
  return where((x >= -edge).logical_and(x <= edge), 0, grad);
}

// scale * x above 0, scale * alpha * (e^(rate x) - 1) below.
Tensor exponential(const char* op, const char* node, const Tensor& self, double alpha, double scale,
                   double rate) {
  raw::check_floating(op, self);
  return one_wide_node(
      node, self,
      [=](const Tensor& x) {
        const Tensor out = raw::ternary(TernaryOp::elu, x, Scalar(alpha), Scalar(rate));
        return scale == 1 ? out : out * scale;
      },
      [=](const Tensor& grad, const Tensor& x) {
        // Not of x itself: where that is large the exponential, which is not selected, overflows.
        const Tensor slope = exp(relu(-x) * -rate) * (scale * alpha * rate);
        return where(x <= 0, grad * slope, grad * scale);
      });
}

}  // namespace

Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) {
  raw::check_floating("leaky_relu", self);
  return leaky("LeakyReluBackward0", self, negative_slope.toDouble());
}

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training) {
  raw::check_floating("rrelu", self);
  const double lo = lower.toDouble(), hi = upper.toDouble();
  check(lo <= hi, "rrelu: lower = ", lo, " exceeds upper = ", hi, "; exchange them");
  if (!training) return leaky("RreluWithNoiseBackward0", self, (lo + hi) / 2);
  const Tensor noise = without_graph([&] {
    const Tensor slope = empty(self.sizes(), as_computed(self).options()).uniform_(lo, hi);
    return where(self > 0, Scalar(1), slope).to(self.dtype());
  });
  const Tensor out = without_graph([&] { return self * noise; });
  if (recording(self))
    record("RreluWithNoiseBackward0", out, {self}, {noise},
           [](Node& n, const Tensor& grad) { return Tensors{grad * n.saved(0)}; });
  return out;
}

Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale,
           const Scalar& input_scale) {
  return exponential("elu", "EluBackward0", self, alpha.toDouble(), scale.toDouble(),
                     input_scale.toDouble());
}

Tensor celu(const Tensor& self, const Scalar& alpha) {
  check(alpha.toDouble() != 0, "celu: alpha is 0, by which x is divided; give another");
  return exponential("celu", "CeluBackward0", self, alpha.toDouble(), 1, 1 / alpha.toDouble());
}

Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  GRADUS_AUTOCAST(softplus, self, beta, threshold);
  raw::check_floating("softplus", self);
  const double b = beta.toDouble(), limit = threshold.toDouble();
  return one_wide_node(
      "SoftplusBackward0", self,
      [=](const Tensor& x) {
        return raw::ternary(TernaryOp::softplus, x, Scalar(b), Scalar(limit));
      },
      [=](const Tensor& grad, const Tensor& x) {
        return where(x * b > limit, grad, grad * sigmoid(x * b));
      });
}

Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  raw::check_number("threshold", self);
  const ScalarType dtype = self.scalar_type();
  const Scalar edge = of_kind("threshold", threshold,
                              isFloatingType(dtype) ? computed_type(dtype) : dtype),
               below = of_kind("threshold", value, dtype);
  return one_node(
      "ThresholdBackward0", self,
      [&](const Tensor& x) { return raw::ternary(TernaryOp::threshold, x, edge, below); },
      [edge](const Tensor& grad, const Tensor& x) { return where(x <= edge, 0, grad); });
}

Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  raw::check_number("hardtanh", self);
  check(!(min_val.toDouble() > max_val.toDouble()), "hardtanh: min_val is ", min_val.toDouble(),
        " and max_val ", max_val.toDouble(), "; expected min_val <= max_val");
  if (!self.is_floating_point()) return clamp(self, min_val.toLong(), max_val.toLong());
  const Scalar lo = min_val, hi = max_val;
  for (const Scalar& bound : {lo, hi}) raw::check_fits("hardtanh", bound, self.dtype());
  return one_node(
      "HardtanhBackward0", self,
      [&](const Tensor& x) { return raw::ternary(TernaryOp::clamp, x, lo, hi); },
      [lo, hi](const Tensor& grad, const Tensor& x) {
        return where((x <= lo).logical_or(x >= hi), 0, grad);
      });
}

Tensor hardshrink(const Tensor& self, const Scalar& lambd) {
  raw::check_floating("hardshrink", self);
  const double edge = edge_of("hardshrink", self, lambd);
  return one_node(
      "HardshrinkBackward0", self,
      [=](const Tensor& x) {
        return raw::ternary(TernaryOp::hardshrink, x, Scalar(edge), Scalar(0));
      },
      [=](const Tensor& grad, const Tensor& x) { return outside(edge, grad, x); });
}

Tensor softshrink(const Tensor& self, const Scalar& lambd) {
  raw::check_floating("softshrink", self);
  const double edge = edge_of("softshrink", self, lambd);
  check(edge >= 0, "softshrink: lambd is ", edge, ", expected 0 or more");
  return one_node(
      "SoftshrinkBackward0", self,
      [=](const Tensor& x) {
        return raw::ternary(TernaryOp::softshrink, x, Scalar(edge), Scalar(0));
      },
      [=](const Tensor& grad, const Tensor& x) { return outside(edge, grad, x); });
}

Tensor glu(const Tensor& self, int64_t dim) {
  check(self.dim() > 0, "glu: the tensor has no dimensions to be halved");
  const int64_t d = wrap_dim("glu", dim, self), size = self.size(d);
  check(size % 2 == 0, "glu: dimension ", d, " has size ", size, ", expected an even one");
  return self.narrow(d, 0, size / 2) * sigmoid(self.narrow(d, size / 2, size / 2));
}

Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& output) {
  raw::check_floating("sigmoid_backward", grad_output);
  raw::check_floating("sigmoid_backward", output);
  return grad_output * output * (1 - output);
}
Tensor tanh_backward(const Tensor& grad_output, const Tensor& output) {
  raw::check_floating("tanh_backward", grad_output);
  raw::check_floating("tanh_backward", output);
  return grad_output * (1 - output * output);
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  GRADUS_AUTOCAST(prelu, self, weight);
  raw::check_floating("prelu", self);
  self.operand("prelu"), weight.operand("prelu", "weight");
  check<TypeError>(weight.dtype() == self.dtype(), "prelu: weight has dtype ", weight.dtype(),
                   ", expected that of self, ", self.dtype(), "; convert with .to(...)");
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  check(weight.dim() <= 1 && (weight.numel() == 1 || weight.numel() == channels),
        "prelu: weight has shape ", weight.sizes(), ", expected 1 number, or ", channels,
        ", one for each channel (dimension 1) of self");
  Dims shape = Dims::filled(std::max<int64_t>(self.dim(), 1), 1);
  if (self.dim() > 1) shape[1] = weight.numel();
  const Tensor slope = self.dim() == 0 ? weight.reshape({}) : weight.reshape(shape);
  const Tensor out = raw::ternary(TernaryOp::leaky_relu, self, slope, Scalar(0));
  if (recording(self, weight))
    record("PreluBackward0", out, {self, slope}, {self, slope}, [](Node& n, const Tensor& grad) {
      Tensors grads(2);
      const Tensor x = n.saved(0), w = n.saved(1);
      if (n.wants(0)) grads[0] = where(x > 0, grad, grad * w);
      if (n.wants(1)) grads[1] = where(x > 0, 0, grad * x);
      return grads;
    });
  return out;
}

}  // namespace gradus
