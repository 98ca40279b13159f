// exp, log, mul, maximum and every other row of elementwise.def: the functions and derivatives.
#include <cctype>

#include "gradus/autograd/engine/any_dtype.h"
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/graph_task.h"
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/ops/pointwise/complex.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/choices.h"

namespace gradus {

// Stands in a row for a derivative that nobody has a formula for. Errors: NotImplementedError.
static Tensor underivable(const char* op, const Tensor&) {
  fail<NotImplementedError>(op, ": the derivative by self is not implemented; detach() it");
}

namespace {

using scalar::kUsesX, scalar::kUsesY, scalar::kUsesZ;

// grad times a derivative, which is a tensor or, for some rows, a number.
template <auto op>
Tensor times(const Tensor& grad, const Tensor& slope) {
  if constexpr (chooses(op)) return where(slope == 0, 0, grad * slope);
  return grad * slope;
}
template <auto op>
Tensor times(const Tensor& grad, double slope) {
  return slope == 1 ? grad : slope == 0 ? zeros_like(grad) : grad * slope;
}

// The name that a row has for a node; else "log_sigmoid" gives "LogSigmoidBackward0".
std::string node_name(std::string_view op, const char* given) {
  if (given) return given;
  std::string out;
  bool capital = true;
  for (const char c : op) {
    if (c != '_') out += capital ? static_cast<char>(std::toupper(c)) : c;
    capital = c == '_' || (c >= '0' && c <= '9');
  }
  return out + "Backward0";
}

// The part of a row that the graph needs, as data: the code that records is one for all rows.
struct UnaryRow {
  std::string node;
  unsigned uses = 0;
  Tensor (*dx)(const Tensor& grad, const Tensor& x, const Tensor& y) = nullptr;
};
struct BinaryRow {
  std::string node, node_of_right, node_of_left;  // the latter two where one operand is a number
  unsigned dx_uses = 0, dy_uses = 0;
  using Slope = Tensor (*)(const Tensor& grad, const Tensor& x, const Tensor& y, const Tensor& z);
  Slope dx = nullptr, dy = nullptr;
  Tensor (*dx_of_right)(const Tensor& grad, const Tensor& x, double y, const Tensor& z) = nullptr;
  Tensor (*dy_of_left)(const Tensor& grad, double x, const Tensor& y, const Tensor& z) = nullptr;
};

template <UnaryOp op>
UnaryRow unary_row() {
  using Row = scalar::Unary<op>;
  constexpr unsigned uses = scalar::derivative_uses<op>;
  return {node_name(Row::name, Row::nodes.tensors), uses,
          [](const Tensor& grad, const Tensor& x, const Tensor& y) {
            if constexpr (uses == 0)
              return times<op>(grad, Row::derivative(0.0, 0.0));
            else
              return times<op>(grad, Row::derivative(x, y));
          }};
}

template <BinaryOp op>
BinaryRow binary_row() {
  using Row = scalar::Binary<op>;
  return {node_name(Row::name, Row::nodes.tensors),
          node_name(Row::name, Row::nodes.number_right),
          node_name(Row::name, Row::nodes.number_left),
          scalar::dx_uses<op>,
          scalar::dy_uses<op>,
          [](const Tensor& grad, const Tensor& x, const Tensor& y, const Tensor& z) {
            return times<op>(grad, Row::dx(x, y, z));
          },
          [](const Tensor& grad, const Tensor& x, const Tensor& y, const Tensor& z) {
            return times<op>(grad, Row::dy(x, y, z));
          },
          [](const Tensor& grad, const Tensor& x, double y, const Tensor& z) {
            return times<op>(grad, Row::dx(x, y, z));
          },
          [](const Tensor& grad, double x, const Tensor& y, const Tensor& z) {
            return times<op>(grad, Row::dy(x, y, z));
          }};
}

const UnaryRow& row_of(UnaryOp op) {
  static const UnaryRow rows[] = {
#define UNARY(name, ...) unary_row<UnaryOp::name>(),
#define PREDICATE(...) {},
#include "gradus/tensor/table/elementwise.def"
  };
  return rows[static_cast<size_t>(op)];
}
const BinaryRow& row_of(BinaryOp op) {
  static const BinaryRow rows[] = {
#define BINARY(name, ...) binary_row<BinaryOp::name>(),
#define INTEGER(...) {},
#define COMPARISON(...) {},
#include "gradus/tensor/table/elementwise.def"
  };
  return rows[static_cast<size_t>(op)];
}

// f(grad), where f multiplies by a derivative: for complex numbers by the conjugate of what f does.
// The operands stay as they are: the conjugate of a real one would have no -0 to say on which side
// of a cut it lies.
template <class F>
Tensor by_conjugate(const Tensor& grad, F f) {
  return grad.is_complex() ? conj(f(conj(grad))) : f(grad);
}

// A complex number beside x, as a tensor that promotes x no further.
Tensor number_beside(const Tensor& x, const Scalar& number) {
  return full({}, number, x.options().dtype(raw::result_type(x, number)));
}

// The derivative of complex x^y by y, 0 where x is 0 and y has no negative real part.
Tensor by_exponent(const Tensor& grad, const Tensor& x, const Tensor& y, const Tensor& z) {
  const Tensor base = x.is_complex() ? x : x.to(z.dtype());
  const Tensor vanishes = (x == 0) & (real(y) >= 0);
  return grad * where(vanishes, Scalar(0), z * log(where(vanishes, Scalar(1), base)));
}

// The derivative of a row where its text, at complex numbers, would take the wrong side of a cut or
// overflow; undefined for other rows. x - (-1) keeps the sign of a zero, and x + 1 does not.
Tensor complex_slope(UnaryOp op, const Tensor& x) {
  const auto of_asin = [](const Tensor& z) { return (-(z - 1)).rsqrt() * (z - (-1)).rsqrt(); };
  const auto of_atanh = [](const Tensor& z) { return 1 / (1 - z) / (1 + z); };
  const auto turned = [](const Tensor& z) { return complex(-imag(z), real(z)); };
  if (op == UnaryOp::asin) return of_asin(x);
  if (op == UnaryOp::acos) return -of_asin(x);
  if (op == UnaryOp::asinh) return of_asin(turned(x));
  if (op == UnaryOp::acosh) return (x - 1).rsqrt() * (x - (-1)).rsqrt();
  if (op == UnaryOp::atanh) return of_atanh(x);
  if (op == UnaryOp::atan) return of_atanh(turned(x));
  return {};
}

// Records y = op(x). y may be x, which has changed in place, where the derivative does not read x.
void record_unary(UnaryOp op, const Tensor& x, const Tensor& y) {
  const UnaryRow& row = row_of(op);
  record(row.node.c_str(), y, {x}, {if_used(row.uses & kUsesX, x), if_used(row.uses & kUsesY, y)},
         [op, &row](Node& n, const Tensor& grad) -> Tensors {
           const Tensor saved_x = n.saved(0), saved_y = n.saved(1);
           if (row.uses == 0) return {row.dx(grad, saved_x, saved_y)};
           if (grad.is_complex())
             return {by_conjugate(grad, [&](const Tensor& g) {
               const Tensor slope = complex_slope(op, saved_x.defined() ? saved_x : saved_y);
               return slope.defined() ? g * slope : row.dx(g, saved_x, saved_y);
             })};
           if (GradMode::is_enabled()) return {row.dx(grad, saved_x, saved_y)};
           const Tensor sums = raw::sums_beside(op) ? autograd::room_for_sums(n, 0) : Tensor();
           return {raw::map_grad(op, grad, saved_x, saved_y, sums)};
         });
}

Tensor unary(UnaryOp op, const Tensor& x) {
  if (op == UnaryOp::abs && x.operand("abs").is_complex()) return complex_abs(x);
  Tensor y = raw::map(op, x);
  if (recording(x)) record_unary(op, x, y);
  return y;
}

// The values that the recorded derivatives of op(x, y) read.
unsigned uses_of(BinaryOp op, const Tensor& x, const Tensor& y) {
  const BinaryRow& row = row_of(op);
  return (recording(x) ? row.dx_uses : 0) | (recording(y) ? row.dy_uses : 0);
}
unsigned uses_of(BinaryOp op, const Tensor&, const Scalar&) { return row_of(op).dx_uses; }

// Records z = op(x, y). z may be x, as above.
void record_binary(BinaryOp op, const Tensor& x, const Tensor& y, const Tensor& z) {
  const BinaryRow& row = row_of(op);
  if (op == BinaryOp::add)
    return record_node(make_node<SumNode>(row.node.c_str()), z, {x, y}, TensorRefs());
  const unsigned uses = uses_of(op, x, y);
  record(row.node.c_str(), z, {x, y},
         {if_used(uses & kUsesX, x), if_used(uses & kUsesY, y), if_used(uses & kUsesZ, z)},
         [op, &row](Node& n, const Tensor& grad) {
           // 1 / y of an integer y alone would have the default dtype.
           const auto saved = [&](size_t i) {
             const Tensor operand = n.saved(i);
             const bool integer = operand.defined() && !is_differentiable(operand.dtype());
             return integer ? operand.to(grad.dtype()) : operand;
           };
           const Tensor sx = saved(0), sy = saved(1), sz = n.saved(2);
           const auto of_x = [&](const Tensor& g) { return row.dx(g, sx, sy, sz); };
           const auto of_y = [&](const Tensor& g) {
             return op == BinaryOp::pow && g.is_complex() ? by_exponent(g, sx, sy, sz)
                                                          : row.dy(g, sx, sy, sz);
           };
           Tensors out(2);
           if (n.wants(0)) out[0] = row.dx_uses ? by_conjugate(grad, of_x) : of_x(grad);
           if (n.wants(1)) out[1] = row.dy_uses ? by_conjugate(grad, of_y) : of_y(grad);
           return out;
         });
}
void record_binary(BinaryOp op, const Tensor& x, const Scalar& y, const Tensor& z) {
  const BinaryRow& row = row_of(op);
  record(row.node_of_right.c_str(), z, {x},
         {if_used(row.dx_uses & kUsesX, x), if_used(row.dx_uses & kUsesZ, z)},
         [&row, number = y.toDouble()](Node& n, const Tensor& grad) -> Tensors {
           return {by_conjugate(grad, [&](const Tensor& g) {
             return row.dx_of_right(g, n.saved(0), number, n.saved(1));
           })};
         });
}

Tensor binary(BinaryOp op, const Tensor& x, const Tensor& y) {
  Tensor z = raw::zip(op, x, y);
  if (recording(x, y)) record_binary(op, x, y, z);
  return z;
}

Tensor binary(BinaryOp op, const Tensor& x, const Scalar& y) {
  if (y.isComplex()) return binary(op, x, number_beside(x, y));
  Tensor z = raw::zip(op, x, y);
  if (recording(x)) record_binary(op, x, y, z);
  return z;
}

Tensor binary(BinaryOp op, const Scalar& x, const Tensor& y) {
  if (x.isComplex() || (op == BinaryOp::pow && y.is_complex()))
    return binary(op, number_beside(y, x), y);
  Tensor z = raw::zip(op, x, y);
  if (!recording(y)) return z;
  const BinaryRow& row = row_of(op);
  record(row.node_of_left.c_str(), z, {y},
         {if_used(row.dy_uses & kUsesY, y), if_used(row.dy_uses & kUsesZ, z)},
         [&row, number = x.toDouble()](Node& n, const Tensor& grad) -> Tensors {
           return {by_conjugate(grad, [&](const Tensor& g) {
             return row.dy_of_left(g, number, n.saved(0), n.saved(1));
           })};
         });
  return z;
}

// Whether the other operand is of x's type, and can be saved after x has changed.
bool stays(const Tensor& x, const Tensor& other, unsigned uses) {
  return other.dtype() == x.dtype() &&
         (!(uses & kUsesY) || (!other.is_inference() && other.impl().storage != x.impl().storage));
}
bool stays(const Tensor&, const Scalar& other, unsigned) { return !other.isComplex(); }

// self = f(self, other), where f is op's function; Other is Tensor or Scalar.
template <class Other>
Tensor& change(BinaryOp op, Tensor (*f)(const Tensor&, const Other&), bool records,
               const Tensor& self, const Other& other) {
  const auto direct = [&](Tensor& x) { raw::zip_(op, x, other); };
  if (records && row_of(op).dx && !self.operand(name_of(op)).is_view()) {
    const unsigned uses = uses_of(op, self, other);
    if (!(uses & kUsesX) && stays(self, other, uses))
      return in_place_at_once(name_of(op), self, direct,
                              [&](Tensor& x) { record_binary(op, x, other, x); });
  }
  return in_place(name_of(op), self, records, direct, [&](const Tensor& x) { return f(x, other); });
}

Tensor& change(UnaryOp op, const Tensor& self) {
  check<TypeError>(op != UnaryOp::abs || !self.operand("abs_").is_complex(),
                   "abs_: In-place abs is not supported for complex tensors; use abs()");
  const auto direct = [op](Tensor& x) { raw::map_(op, x); };
  const bool records = recording(self);
  if (records && !self.is_view() && !(row_of(op).uses & kUsesX))
    return in_place_at_once(name_of(op), self, direct, [op](Tensor& x) { record_unary(op, x, x); });
  return in_place(name_of(op), self, records, direct,
                  [op](const Tensor& x) { return unary(op, x); });
}

}  // namespace

#define UNARY(name, ...)                                      \
  Tensor name(const Tensor& self) {                           \
    GRADUS_AUTOCAST(name, self);                              \
    return unary(UnaryOp::name, self);                        \
  }                                                           \
  Tensor Tensor::name() const { return gradus::name(*this); } \
  Tensor& Tensor::name##_() const { return change(UnaryOp::name, *this); }

#define PREDICATE(name, ...)                                                \
  Tensor name(const Tensor& self) { return raw::map(UnaryOp::name, self); } \
  Tensor Tensor::name() const { return gradus::name(*this); }

#define BINARY(name, ...)                                \
  Tensor name(const Tensor& self, const Tensor& other) { \
    GRADUS_AUTOCAST(name, self, other);                  \
    return binary(BinaryOp::name, self, other);          \
  }                                                      \
  Tensor name(const Tensor& self, const Scalar& other) { \
    GRADUS_AUTOCAST(name, self, other);                  \
    return binary(BinaryOp::name, self, other);          \
  }                                                      \
  Tensor name(const Scalar& self, const Tensor& other) { \
    GRADUS_AUTOCAST(name, self, other);                  \
    return binary(BinaryOp::name, self, other);          \
  }                                                      \
  GRADUS_METHODS(name)

#define INTEGER(name, ...)                               \
  Tensor name(const Scalar& self, const Tensor& other) { \
    return raw::zip(BinaryOp::name, self, other);        \
  }                                                      \
  COMPARISON(name)

#define COMPARISON(name, ...)                            \
  Tensor name(const Tensor& self, const Tensor& other) { \
    return raw::zip(BinaryOp::name, self, other);        \
  }                                                      \
  Tensor name(const Tensor& self, const Scalar& other) { \
    return raw::zip(BinaryOp::name, self, other);        \
  }                                                      \
  GRADUS_METHODS(name)

#define GRADUS_METHODS(name)                                                            \
  Tensor Tensor::name(const Tensor& other) const { return gradus::name(*this, other); } \
  Tensor Tensor::name(const Scalar& other) const { return gradus::name(*this, other); } \
  Tensor& Tensor::name##_(const Tensor& other) const {                                  \
    return change(BinaryOp::name, gradus::name, recording(*this, other), *this, other); \
  }                                                                                     \
  Tensor& Tensor::name##_(const Scalar& other) const {                                  \
    return change(BinaryOp::name, gradus::name, recording(*this), *this, other);        \
  }

#include "gradus/tensor/table/elementwise.def"
#undef GRADUS_METHODS

}  // namespace gradus
