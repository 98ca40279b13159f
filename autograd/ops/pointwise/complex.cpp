// Complex numbers: views of their parts, what makes them of parts, and conj, abs, angle and sgn.
// Backward follows PyTorch: the gradient of a real function is the conjugate of its derivative by
// the complex number, and where it belongs to a real tensor its real part is taken.
#include "gradus/autograd/ops/pointwise/complex.h"

#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
void check_parts(const char* op, const char* first, const Tensor& x, const char* second,
                 const Tensor& y) {
  raw::check_same_device(op, x, first, y, second);
  check<TypeError>(x.dtype() == y.dtype() && (x.dtype() == kFloat || x.dtype() == kDouble), op,
                   ": Expected both inputs to be Float or Double tensors of one dtype but got ",
                   TypeName{x.dtype()}, " and ", TypeName{y.dtype()}, "; convert with .to(kFloat)");
}
}  // namespace

Tensor view_as_real(const Tensor& self) {
  check<TypeError>(self.operand("view_as_real").is_complex(),
                   "view_as_real: view_as_real is only supported for complex tensors, and self has "
                   "dtype ",
                   self.dtype(), "; a real tensor needs no view");
  Tensor out = raw::view_as_real(self);
  if (recording(self))
    record("ViewAsRealBackward0", out, {self}, {},
           [](Node&, const Tensor& grad) { return Tensors{view_as_complex(grad.contiguous())}; });
  return out;
}

Tensor view_as_complex(const Tensor& self) {
  Tensor out = raw::view_as_complex(self);
  if (recording(self))
    record("ViewAsComplexBackward0", out, {self}, {},
           [](Node&, const Tensor& grad) { return Tensors{view_as_real(grad)}; });
  return out;
}

Tensor real(const Tensor& self) {
  return self.operand("real").is_complex() ? view_as_real(self).select(-1, 0) : self;
}
Tensor imag(const Tensor& self) {
  check<TypeError>(self.operand("imag").is_complex(),
                   "imag: imag is not implemented for tensors with non-complex dtypes, and self "
                   "has ",
                   self.dtype(), "; use zeros_like()");
  return view_as_real(self).select(-1, 1);
}
Tensor isreal(const Tensor& self) {
  return self.operand("isreal").is_complex() ? imag(self.detach()) == 0 : ones_like(self, kBool);
}

Tensor complex(const Tensor& real, const Tensor& imag) {
  check_parts("complex", "real", real, "imag", imag);
  const Dims sizes = broadcast_shapes("complex", real.sizes(), imag.sizes());
  Tensor out = raw::empty(sizes, toComplexType(real.dtype()), real.device());
  raw::copy_(raw::part_of(out, 0), real);
  raw::copy_(raw::part_of(out, 1), imag);
  if (recording(real, imag))
    record("ComplexBackward0", out, {real, imag}, {}, [](Node&, const Tensor& grad) {
      return Tensors{gradus::real(grad), gradus::imag(grad)};
    });
  return out;
}
Tensor polar(const Tensor& abs, const Tensor& angle) {
  check_parts("polar", "abs", abs, "angle", angle);
  return complex(abs * angle.cos(), abs * angle.sin());
}

Tensor conj(const Tensor& self) {
  if (!self.operand("conj").is_complex()) return self;
  Tensor out = raw::clone(self);
  raw::map_(UnaryOp::neg, raw::part_of(out, 1));
  if (recording(self))
    record("ConjBackward0", out, {self}, {},
           [](Node&, const Tensor& grad) { return Tensors{conj(grad)}; });
  return out;
}
Tensor conj_physical(const Tensor& self) { return conj(self); }
Tensor& Tensor::conj_physical_() const {
  if (!operand("conj_physical").is_complex()) return handle();
  return in_place(
      "conj_physical", *this, recording(*this),
      [](Tensor& x) { raw::map_(UnaryOp::neg, raw::part_of(x, 1)); },
      [](const Tensor& x) { return gradus::conj(x); });
}
Tensor resolve_conj(const Tensor& self) { return self; }
Tensor resolve_neg(const Tensor& self) { return self; }

Tensor complex_abs(const Tensor& self) {
  Tensor out = raw::zip(BinaryOp::hypot, raw::part_of(self, 0), raw::part_of(self, 1));
  if (recording(self))
    record("AbsBackward0", out, {self}, {self},
           [](Node& n, const Tensor& grad) { return Tensors{grad * sgn(n.saved(0))}; });
  return out;
}

// self / |self|: the quotient of real numbers for each part.
Tensor sgn(const Tensor& self) {
  if (!self.operand("sgn").is_complex()) return sign(self);
  const Tensor size = self.abs();
  const Tensor zero = (size.detach() == 0);
  return where(zero, Scalar(0), self / (size + zero));
}

Tensor complex_angle(const Tensor& self) {
  const Tensor parts = view_as_real(self);
  Tensor out = without_graph([&] { return atan2(parts.select(-1, 1), parts.select(-1, 0)); });
  if (recording(self))
    record("AngleBackward0", out, {self}, {self}, [](Node& n, const Tensor& grad) {
      const Tensor x = n.saved(0), unit = sgn(x), size = x.abs();
      const Tensor scale = grad / (size + (size.detach() == 0));
      return Tensors{complex(-imag(unit) * scale, real(unit) * scale)};
    });
  return out;
}

}  // namespace gradus
