// Expands elementwise.def into the public functions and their derivatives.
#include <cctype>

#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

// Stands in a row for a derivative that nobody has a formula for. Errors: NotImplementedError.
static Tensor underivable(const char* op, const Tensor&) {
  fail<NotImplementedError>(op, ": the derivative by self is not implemented; detach() it");
}

namespace {

using scalar::kUsesX, scalar::kUsesY, scalar::kUsesZ;

// grad times a derivative, which is a tensor or, for some rows, a number.
Tensor times(const Tensor& grad, const Tensor& slope) { return grad * slope; }
Tensor times(const Tensor& grad, double slope) {
  return slope == 1 ? grad : slope == 0 ? zeros_like(grad) : grad * slope;
}

template <UnaryOp op>
Tensor unary(const char* node_name, const Tensor& x) {
  using Row = scalar::Unary<op>;
  constexpr unsigned uses = scalar::slope_uses<op>;
  Tensor y = raw::map(op, x);
  if (recording(x))
    record(node_name, y, {x}, {if_used(uses & kUsesX, x), if_used(uses & kUsesY, y)},
           [](Node& n, const Tensor& grad) -> Tensors {
             if constexpr (uses == 0)
               return {times(grad, Row::slope(0.0, 0.0))};
             else if (GradMode::is_enabled())
               return {grad * Row::slope(n.saved(0), n.saved(1))};
             else
               return {raw::map_grad(op, grad, n.saved(0), n.saved(1))};
           });
  return y;
}

template <BinaryOp op>
Tensor binary(const char* node_name, const Tensor& x, const Tensor& y) {
  using Row = scalar::Binary<op>;
  Tensor z = raw::zip(op, x, y);
  if (const bool of_x = recording(x), of_y = recording(y); of_x || of_y) {
    const unsigned uses = (of_x ? scalar::dx_uses<op> : 0) | (of_y ? scalar::dy_uses<op> : 0);
    record(node_name, z, {x, y},
           {if_used(uses & kUsesX, x), if_used(uses & kUsesY, y), if_used(uses & kUsesZ, z)},
           [](Node& n, const Tensor& grad) {
             Tensors out(2);
             // Beside an integer y alone, 1 / y would be of the default dtype.
             const auto saved = [&](size_t i) {
               const Tensor operand = n.saved(i);
               const bool integer = operand.defined() && !operand.is_floating_point();
               return integer ? operand.to(grad.dtype()) : operand;
             };
             const Tensor sx = saved(0), sy = saved(1), sz = n.saved(2);
             if (n.wants(0)) out[0] = times(grad, Row::dx(sx, sy, sz));
             if (n.wants(1)) out[1] = times(grad, Row::dy(sx, sy, sz));
             return out;
           });
  }
  return z;
}

template <BinaryOp op>
Tensor binary(const char* node_name, const Tensor& x, const Scalar& y) {
  constexpr unsigned uses = scalar::dx_uses<op>;
  Tensor z = raw::zip(op, x, y);
  if (recording(x))
    record(node_name, z, {x}, {if_used(uses & kUsesX, x), if_used(uses & kUsesZ, z)},
           [number = y.toDouble()](Node& n, const Tensor& grad) -> Tensors {
             return {times(grad, scalar::Binary<op>::dx(n.saved(0), number, n.saved(1)))};
           });
  return z;
}

template <BinaryOp op>
Tensor binary(const char* node_name, const Scalar& x, const Tensor& y) {
  constexpr unsigned uses = scalar::dy_uses<op>;
  Tensor z = raw::zip(op, x, y);
  if (recording(y))
    record(node_name, z, {y}, {if_used(uses & kUsesY, y), if_used(uses & kUsesZ, z)},
           [number = x.toDouble()](Node& n, const Tensor& grad) -> Tensors {
             return {times(grad, scalar::Binary<op>::dy(number, n.saved(0), n.saved(1)))};
           });
  return z;
}

// The name that a row has for a node; else "log_sigmoid" gives "LogSigmoidBackward0", and "log1p"
// "Log1PBackward0".
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

}  // namespace

#define UNARY(name, ...)                                                                           \
  Tensor name(const Tensor& self) {                                                                \
    static const std::string node = node_name(#name, scalar::Unary<UnaryOp::name>::nodes.tensors); \
    return unary<UnaryOp::name>(node.c_str(), self);                                               \
  }                                                                                                \
  Tensor Tensor::name() const { return gradus::name(*this); }                                      \
  Tensor& Tensor::name##_() const {                                                                \
    return in_place(                                                                               \
        #name, *this, recording(*this), [](Tensor& self) { raw::map_(UnaryOp::name, self); },      \
        [](const Tensor& self) { return gradus::name(self); });                                    \
  }

#define BINARY(name, ...)                                                     \
  Tensor name(const Tensor& self, const Tensor& other) {                      \
    static const std::string node =                                           \
        node_name(#name, scalar::Binary<BinaryOp::name>::nodes.tensors);      \
    return binary<BinaryOp::name>(node.c_str(), self, other);                 \
  }                                                                           \
  Tensor name(const Tensor& self, const Scalar& other) {                      \
    static const std::string node =                                           \
        node_name(#name, scalar::Binary<BinaryOp::name>::nodes.number_right); \
    return binary<BinaryOp::name>(node.c_str(), self, other);                 \
  }                                                                           \
  Tensor name(const Scalar& self, const Tensor& other) {                      \
    static const std::string node =                                           \
        node_name(#name, scalar::Binary<BinaryOp::name>::nodes.number_left);  \
    return binary<BinaryOp::name>(node.c_str(), self, other);                 \
  }                                                                           \
  GRADUS_METHODS(name)

#define INTEGER(name, ...)                               \
  Tensor name(const Scalar& self, const Tensor& other) { \
    return raw::zip(BinaryOp::name, self, other);        \
  }                                                      \
  COMPARISON(name)

#define GRADUS_METHODS(name)                                                            \
  Tensor Tensor::name(const Tensor& other) const { return gradus::name(*this, other); } \
  Tensor Tensor::name(const Scalar& other) const { return gradus::name(*this, other); } \
  Tensor& Tensor::name##_(const Tensor& other) const {                                  \
    return in_place(                                                                    \
        #name, *this, recording(*this, other),                                          \
        [&](Tensor& self) { raw::zip_(BinaryOp::name, self, other); },                  \
        [&](const Tensor& self) { return gradus::name(self, other); });                 \
  }                                                                                     \
  Tensor& Tensor::name##_(const Scalar& other) const {                                  \
    return in_place(                                                                    \
        #name, *this, recording(*this),                                                 \
        [&](Tensor& self) { raw::zip_(BinaryOp::name, self, other); },                  \
        [&](const Tensor& self) { return gradus::name(self, other); });                 \
  }

#define COMPARISON(name, ...)                            \
  Tensor name(const Tensor& self, const Tensor& other) { \
    return raw::zip(BinaryOp::name, self, other);        \
  }                                                      \
  Tensor name(const Tensor& self, const Scalar& other) { \
    return raw::zip(BinaryOp::name, self, other);        \
  }                                                      \
  GRADUS_METHODS(name)

#define PREDICATE(name, ...)                                                \
  Tensor name(const Tensor& self) { return raw::map(UnaryOp::name, self); } \
  Tensor Tensor::name() const { return gradus::name(*this); }

#include "gradus/tensor/table/elementwise.def"
#undef GRADUS_METHODS

}  // namespace gradus
