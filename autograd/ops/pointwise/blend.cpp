// Weighted sums: add, sub and rsub with a factor, lerp, addcmul, addcdiv, with their gradients.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/tensor/raw/operand.h"

namespace gradus {

namespace {

void check_factor(const char* op, const char* name, ScalarType dtype, const Scalar& factor) {
  check<TypeError>(isComplexType(dtype) || !factor.isComplex(), op,
                   ": For non-complex input tensors, argument ", name,
                   " must not be a complex number: ", factor, "; convert them to a complex dtype");
  check<TypeError>(is_differentiable(dtype) || !factor.isFloatingPoint(), op, ": ", name, " = ",
                   factor, " is a floating point number, and the tensors are of ", dtype,
                   "; convert them with .to(kFloat)");
  check<TypeError>(dtype == kBool || !factor.isBoolean(), op, ": ", name,
                   " is bool, and the tensors are of ", dtype, "; give a number");
}

void check_alpha(const char* op, ScalarType dtype, const Scalar& alpha) {
  check_factor(op, "alpha", dtype, alpha);
  raw::check_fits(op, alpha, dtype);
}

// x times alpha, in the dtype of the sum.
template <class Other>
auto scaled(const char* op, const Tensor& self, const Other& x, const Scalar& alpha) {
  const ScalarType dtype = raw::result_type(self, x);
  check_alpha(op, dtype, alpha);
  if (isComplexType(dtype)) {
    if constexpr (std::is_same_v<Other, Tensor>)
      return x.to(dtype) * alpha;
    else
      return Scalar(x.toComplexDouble() * alpha.toComplexDouble());
  }
  if constexpr (std::is_same_v<Other, Tensor>) {
    const bool refused = x.dtype() == kBool && op != std::string_view("add");  // by the difference
    if (alpha.toDouble() == 1 || refused) return x;
    return x.to(dtype) * (dtype == kBool ? Scalar(alpha.toBool()) : alpha);
  } else {
    if (dtype == kBool) return Scalar(x.toBool() && alpha.toBool());
    return isFloatingType(dtype) ? Scalar(x.toDouble() * alpha.toDouble())
                                 : Scalar(x.toLong() * alpha.toLong());
  }
}

// Whether self + alpha * other is a row of ternary.def. The rows of elementwise.def say what is
// wrong with operands, and compute integers.
bool in_one_pass(const char* op, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  self.operand(op), other.operand(op, "other");
  if (alpha.isComplex() || alpha.toDouble() == 1 || self.device() != other.device()) return false;
  const ScalarType dtype = raw::result_type(self, other);
  if (!isFloatingType(dtype) || self.dtype() == kBool || other.dtype() == kBool) return false;
  check_alpha(op, dtype, alpha);
  broadcast_shapes(op, self.sizes(), other.sizes());
  return true;
}

// self + factor * other, as one node. The factor is rounded to their dtype, as in PyTorch on a CPU.
Tensor add_product(const char* node, const Tensor& self, const Tensor& other,
                   const Scalar& factor) {
  const Scalar rounded = raw::as_element(factor, raw::result_type(self, other));
  const Tensor out = raw::ternary(TernaryOp::addcmul, self, other, rounded);
  if (recording(self, other))
    record(node, out, {self, other}, {}, [factor](Node& n, const Tensor& grad) {
      return Tensors{grad, n.wants(1) ? grad * factor : Tensor()};
    });
  return out;
}
Tensor& add_product_(const char* op, const char* node, const Tensor& self, const Tensor& other,
                     const Scalar& factor) {
  const ScalarType dtype = raw::result_type(self, other);
  check_output_shape(op, "_", self.sizes(), broadcast_shapes(op, self.sizes(), other.sizes()));
  check_can_cast(op, "_", dtype, self.scalar_type());
  return in_place(
      op, self, recording(self, other),
      [&](Tensor& x) {
        raw::ternary_(TernaryOp::addcmul, x, other, raw::as_element(factor, dtype));
      },
      [&](const Tensor& x) { return add_product(node, x, other, factor); });
}

void check_lerp(const char* name, const Tensor& x, ScalarType expected) {
  x.operand("lerp", name);
  check<TypeError>((x.is_floating_point() || x.is_complex()) && x.dtype() == expected,
                   "lerp: ", name, " has dtype ", x.dtype(),
                   ", expected the floating point one of self, ", expected,
                   "; convert with .to(...)");
}

// blend(x), which is op(x, y, z, w), into x; in one pass where all are of one floating point type.
template <class Blend>
Tensor& blend_(const char* name, TernaryOp op, const Tensor& self, const Operand& y,
               const Operand& z, const Scalar& w, const Blend& blend) {
  bool alike = self.is_floating_point();
  bool records = recording(self);
  for (const Tensor* x : {y.tensor, z.tensor}) {
    if (!x) continue;
    alike = alike && x->dtype() == self.dtype() && x->device() == self.device();
    records = records || recording(*x);
  }
  const auto direct = [&](const Tensor& x) {
    alike ? raw::ternary_(op, x, y, z, w) : assign(name, x, blend(x));
  };
  return in_place(name, self, records, direct, blend);
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!in_one_pass("add", self, other, alpha)) return self + scaled("add", self, other, alpha);
  return add_product("AddBackward0", self, other, alpha);
}
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return self + scaled("add", self, other, alpha);
}
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!in_one_pass("sub", self, other, alpha)) return self - scaled("sub", self, other, alpha);
  return add_product("SubBackward0", self, other, -alpha.toDouble());
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return self - scaled("sub", self, other, alpha);
}

Tensor& Tensor::add_(const Tensor& other, const Scalar& alpha) const {
  if (!in_one_pass("add", *this, other, alpha)) return add_(scaled("add", *this, other, alpha));
  return add_product_("add", "AddBackward0", *this, other, alpha);
}
Tensor& Tensor::add_(const Scalar& other, const Scalar& alpha) const {
  return add_(scaled("add", *this, other, alpha));
}
Tensor& Tensor::sub_(const Tensor& other, const Scalar& alpha) const {
  if (!in_one_pass("sub", *this, other, alpha)) return sub_(scaled("sub", *this, other, alpha));
  return add_product_("sub", "SubBackward0", *this, other, -alpha.toDouble());
}
Tensor& Tensor::sub_(const Scalar& other, const Scalar& alpha) const {
  return sub_(scaled("sub", *this, other, alpha));
}

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (alpha.isComplex()) return sub(other, self, alpha);
  const Tensor out = without_graph([&] { return sub(other, self, alpha); });
  if (recording(self, other))
    record("RsubBackward0", out, {self, other}, {}, [alpha](Node&, const Tensor& grad) {
      return Tensors{-grad * alpha, grad};
    });
  return out;
}
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  const ScalarType dtype = raw::result_type(self, other);
  check_alpha("rsub", dtype, alpha);
  if (alpha.isComplex()) return other - self * alpha;
  const Tensor out = without_graph([&] {
    const Tensor x = self.to(dtype);
    return other - (alpha.toDouble() == 1 ? x : x * alpha);
  });
  if (recording(self))
    record("RsubBackward1", out, {self}, {},
           [alpha](Node&, const Tensor& grad) { return Tensors{-grad * alpha}; });
  return out;
}

Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  check_lerp("self", self, self.dtype());
  check_lerp("end", end, self.dtype());
  if (self.is_complex()) {
    const Tensor across = end - self;
    const std::complex<double> w = weight.toComplexDouble();
    return std::abs(w) < 0.5 ? self + across * weight : end - across * Scalar(1.0 - w);
  }
  const Tensor out = raw::ternary(TernaryOp::lerp, self, end, weight);
  if (recording(self, end))
    record(
        "LerpBackward0", out, {self, end}, {},
        [w = weight.toDouble()](Node& n, const Tensor& grad) {
          return Tensors{n.wants(0) ? grad * (1 - w) : Tensor(), n.wants(1) ? grad * w : Tensor()};
        });
  return out;
}

Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  check_lerp("self", self, self.dtype());
  check_lerp("end", end, self.dtype());
  check_lerp("weight", weight, self.dtype());
  if (self.is_complex()) {
    const Tensor across = end - self;
    return where(weight.abs() < 0.5, self + across * weight, end - across * (1 - weight));
  }
  const Tensor out = raw::ternary(TernaryOp::lerp, self, end, weight);
  if (recording(self, end, weight))
    record("LerpBackward1", out, {self, end, weight}, {self, end, weight},
           [](Node& n, const Tensor& grad) {
             Tensors grads(3);
             const Tensor w = n.saved(2);
             if (n.wants(0)) grads[0] = grad * (1 - w);
             if (n.wants(1)) grads[1] = grad * w;
             if (n.wants(2)) grads[2] = grad * (n.saved(1) - n.saved(0));
             return grads;
           });
  return out;
}

Tensor& Tensor::lerp_(const Tensor& end, const Scalar& weight) const {
  return blend_("lerp", TernaryOp::lerp, *this, end, weight, 1,
                [&](const Tensor& x) { return gradus::lerp(x, end, weight); });
}
Tensor& Tensor::lerp_(const Tensor& end, const Tensor& weight) const {
  return blend_("lerp", TernaryOp::lerp, *this, end, weight, 1,
                [&](const Tensor& x) { return gradus::lerp(x, end, weight); });
}

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  GRADUS_AUTOCAST(addcmul, self, tensor1, tensor2, value);
  const ScalarType dtype = raw::result_type({self, tensor1, tensor2});
  check_factor("addcmul", "value", dtype, value);
  if (isComplexType(dtype)) return self + tensor1 * tensor2 * value;
  if (!isFloatingType(dtype)) raw::check_fits("addcmul", value, dtype);
  const Tensor out = raw::ternary(TernaryOp::addcmul, self, tensor1, tensor2, value);
  if (recording(self, tensor1, tensor2))
    record("AddcmulBackward0", out, {self, tensor1, tensor2}, {tensor1, tensor2},
           [value](Node& n, const Tensor& grad) {
             Tensors grads(3);
             if (n.wants(0)) grads[0] = grad;
             if (n.wants(1)) grads[1] = grad * (n.saved(1) * value);
             if (n.wants(2)) grads[2] = grad * (n.saved(0) * value);
             return grads;
           });
  return out;
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  GRADUS_AUTOCAST(addcdiv, self, tensor1, tensor2, value);
  const ScalarType dtype = raw::result_type({self, tensor1, tensor2});
  check_factor("addcdiv", "value", isComplexType(dtype) ? dtype : kFloat, value);
  if (isComplexType(dtype)) return self + tensor1 / tensor2 * value;
  check<TypeError>(tensor1.is_floating_point() || tensor2.is_floating_point(),
                   "addcdiv: tensor1 has dtype ", tensor1.dtype(), ", and tensor2 ",
                   tensor2.dtype(), ", expected one of floating point; convert with .to(kFloat)");
  const Tensor out = raw::ternary(TernaryOp::addcdiv, self, tensor1, tensor2, value);
  if (recording(self, tensor1, tensor2))
    record("AddcdivBackward0", out, {self, tensor1, tensor2}, {tensor1, tensor2},
           [value](Node& n, const Tensor& grad) {
             Tensors grads(3);
             const Tensor divisor = n.saved(1);
             if (n.wants(0)) grads[0] = grad;
             if (n.wants(1)) grads[1] = grad * value / divisor;
             if (n.wants(2)) grads[2] = -grad * (value * n.saved(0) / (divisor * divisor));
             return grads;
           });
  return out;
}

Tensor& Tensor::addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  return blend_("addcmul", TernaryOp::addcmul, *this, tensor1, tensor2, value,
                [&](const Tensor& x) { return gradus::addcmul(x, tensor1, tensor2, value); });
}
Tensor& Tensor::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  return blend_("addcdiv", TernaryOp::addcdiv, *this, tensor1, tensor2, value,
                [&](const Tensor& x) { return gradus::addcdiv(x, tensor1, tensor2, value); });
}

}  // namespace gradus
