// map, map_grad and zip: the rows of elementwise.def, with broadcasting and promotion.
#include "gradus/tensor/level.h"
#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/raw/operand.h"

namespace gradus {

namespace {
using scalar::Ints;

// The columns of a row that are needed while running.
struct Facts {
  const char* name;
  Ints ints;
  bool complex_numbers, gives_bool;
};
template <class Row>
constexpr Facts facts_of = {Row::name, Row::ints, Row::complex_numbers, Row::gives_bool};
constexpr Facts unary_facts[] = {
#define UNARY(name, ...) facts_of<scalar::Unary<UnaryOp::name>>,
#define PREDICATE(name, ...) UNARY(name)
#include "gradus/tensor/table/elementwise.def"
};
constexpr Facts binary_facts[] = {
#define BINARY(name, ...) facts_of<scalar::Binary<BinaryOp::name>>,
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
};
const Facts& facts(UnaryOp op) { return unary_facts[static_cast<int>(op)]; }
const Facts& facts(BinaryOp op) { return binary_facts[static_cast<int>(op)]; }
}  // namespace

const char* name_of(UnaryOp op) { return facts(op).name; }
const char* name_of(BinaryOp op) { return facts(op).name; }
bool gives_bool(UnaryOp op) { return facts(op).gives_bool; }
bool gives_bool(BinaryOp op) { return facts(op).gives_bool; }

namespace raw {

namespace {
// The dtype that operands of a dtype are converted to before they are computed with.
ScalarType enter(const Facts& row, ScalarType dtype) {
  if (isFloatingType(dtype)) {
    check<TypeError>(row.ints != Ints::only && row.ints != Ints::bits, row.name, ": dtype ", dtype,
                     " is not supported, for it takes integers; convert with .to(kLong)");
    return dtype;
  }
  if (isComplexType(dtype)) {
    check<TypeError>(row.complex_numbers, row.name, ": not implemented for '", TypeName{dtype},
                     "'; compute with real() and imag()");
    return dtype;
  }
  if (row.ints == Ints::real) return get_default_dtype();
  check<TypeError>(row.ints != Ints::none, row.name, ": dtype ", dtype,
                   " is not supported; convert with .to(kFloat)");
  check<TypeError>(dtype != kBool || row.ints == Ints::any || row.ints == Ints::bits, row.name,
                   ": dtype bool is not supported; convert with .to(kLong)");
  return dtype;
}

ScalarType map_dtype(UnaryOp op, const Tensor& x) {
  x.operand(name_of(op));
  if (op == UnaryOp::square && x.dtype() == kBool) return kLong;  // a power, and 2 is an integer
  check<TypeError>(op != UnaryOp::neg || x.dtype() != kBool,
                   "neg: Negation, the `-` operator, on a bool tensor is not supported; to invert "
                   "a mask, use the `~` operator");
  return enter(facts(op), x.dtype());
}

// o, or its one number where it is a tensor of the CPU without dimensions beside one of a GPU.
Operand beside(const Operand& o, const Operand& other) {
  return o.is_number() || other.is_number() ? o : number_beside(*o.tensor, *other.tensor);
}

// The dtypes of a pair: of both operands when they are computed with, and of the result.
struct ZipTypes {
  ScalarType common, result;
};
ZipTypes zip_types(BinaryOp op, const Operand& x, const Operand& y) {
  if (!x.is_number()) x.tensor->operand(name_of(op));
  if (!y.is_number()) y.tensor->operand(name_of(op), "other");
  const auto is_bool = [](const Operand& o) {
    return o.is_number() ? o.number.isBoolean() : o.tensor->dtype() == kBool;
  };
  check<TypeError>(op != BinaryOp::sub || !is_bool(x) || !is_bool(y),
                   "sub: Subtraction, the `-` operator, with two bool tensors is not supported; "
                   "use the `^` operator");
  check<TypeError>(op != BinaryOp::sub || (!is_bool(x) && !is_bool(y)),
                   "sub: Subtraction, the `-` operator, with a bool tensor is not supported; to "
                   "invert a mask, use the `~` operator, or convert with .to(kLong)");
  const bool alike = !x.is_number() && !y.is_number() && x.tensor->dtype() == y.tensor->dtype();
  const ScalarType common = enter(facts(op), alike ? x.tensor->scalar_type() : result_type(x, y));
  if (op == BinaryOp::pow && y.is_number()) {
    check(is_differentiable(common) || y.number.toLong() >= 0,
          "pow: Integers to negative integer powers are not allowed: ", y.number,
          "; convert with .to(kFloat)");
    if (common != kFloat) check_fits("pow", y.number, common);  // there it becomes infinity
  }
  check<TypeError>(op != BinaryOp::nextafter || common == computed_type(common),
                   "nextafter: dtype ", common, " is not supported, for it is computed with in ",
                   computed_type(common), "; convert with .to(kFloat)");
  return {common, gives_bool(op) ? kBool : common};
}

// The dtype that a first or second operand is converted to. A single number beside a tensor of 16
// bits is not rounded to 16 bits in a product or quotient; only the result is, as in PyTorch.
ScalarType entered_type(BinaryOp op, bool second, const Operand& o, ScalarType common) {
  if (!isFloatingType(common) || common == computed_type(common)) return common;
  const bool rounds_once = op == BinaryOp::mul || op == BinaryOp::div ||
                           (second && (op == BinaryOp::floor_divide || op == BinaryOp::div_trunc));
  const bool single = o.is_number() || (second && o.tensor->numel() == 1);
  return rounds_once && single ? computed_type(common) : common;
}

// Integers have no quotient by 0. The CPU throws, as in PyTorch. A GPU gives some value, since a
// check would have to wait for it. Errors: ValueError.
void check_divisor(BinaryOp op, const Operand& y, const ZipTypes& types, const Tensor& out) {
  if (is_differentiable(types.common) || !out.is_cpu()) return;
  const bool divides = op == BinaryOp::floor_divide || op == BinaryOp::div_trunc ||
                       op == BinaryOp::remainder || op == BinaryOp::fmod;
  if (!divides) return;
  const bool zero =
      y.is_number()
          ? y.number.toLong() == 0
          : item(reduce(ReduceOp::amax, batching::over_all(zip(BinaryOp::eq, y, Scalar(0))), {}))
                .toBool();
  check(!zero, name_of(op), ": division of integers by zero (ZeroDivisionError): other ",
        y.is_number() ? "is 0" : "has an element 0",
        "; mask it first, or convert with .to(kFloat)");
}

void run_zip(BinaryOp op, const Operand& x, const Operand& y, const ZipTypes& types,
             const Tensor& out) {
  if (out.numel() == 0) return;
  Tensor kept[2];
  const bool is_complex = isComplexType(types.common);
  const bool converts = takes_beside(Function::zip, out).mixed && !is_complex &&
                        out.dtype() == types.common && types.common == computed_type(types.common);
  const auto ready = [&](const Operand& o, bool second) -> Operand {
    const ScalarType dtype = entered_type(op, second, o, types.common);
    if (o.is_number() && is_complex) {
      kept[second] = empty({}, dtype, out.device());
      fill_(kept[second], o.number);
      return kept[second];
    }
    if (o.is_number()) return dtype == kBool ? o.number : as_element(o.number, dtype);
    if (converts && o.tensor->device() == out.device()) return *o.tensor;
    return as_operand(*o.tensor, dtype, out.device(), kept[second]);
  };
  const Operand a = ready(x, false), b = ready(y, true);
  check_divisor(op, b, types, out);
  backend(out).zip(op, a, b, out);
}

void check_devices(BinaryOp op, const Operand& x, const Operand& y) {
  if (!x.is_number() && !y.is_number())
    check_same_device(name_of(op), *x.tensor, "self", *y.tensor, "other");
}
}  // namespace

ScalarType result_type(std::initializer_list<Operand> operands) {
  // Three ranks: tensors with dimensions, tensors without, numbers. A lower rank decides only
  // where its category (bool, integer, floating) is higher.
  ScalarType by_rank[3] = {kBool, kBool, kBool};
  bool present[3] = {false, false, false};
  for (const Operand& o : operands) {
    const int rank = o.is_number() ? 2 : o.tensor->dim() == 0 ? 1 : 0;
    ScalarType dtype = o.is_number() ? o.number.type() : o.tensor->scalar_type();
    if (o.is_number() && isFloatingType(dtype)) dtype = get_default_dtype();
    if (o.is_number() && isComplexType(dtype)) dtype = toComplexType(get_default_dtype());
    by_rank[rank] = present[rank] ? promoteTypes(by_rank[rank], dtype) : dtype;
    present[rank] = true;
  }
  bool decided = false;
  ScalarType out = kBool;
  for (int rank = 0; rank < 3; ++rank) {
    if (!present[rank]) continue;
    if (decided && isFloatingType(out) && isComplexType(by_rank[rank])) {
      out = toComplexType(out);  // the parts keep the width of the higher rank
    } else if (!decided || kind_of(by_rank[rank]) > kind_of(out)) {
      out = decided ? promoteTypes(out, by_rank[rank]) : by_rank[rank];
    }
    decided = true;
  }
  return out;
}

namespace {
// isnan, isinf and isfinite of complex numbers, from those of their parts.
Tensor map_parts(UnaryOp op, const Tensor& x) {
  return zip(op == UnaryOp::isfinite ? BinaryOp::logical_and : BinaryOp::logical_or,
             map(op, part_of(x, 0)), map(op, part_of(x, 1)));
}
}  // namespace

Tensor map(UnaryOp op, const Tensor& x) {
  const ScalarType dtype = map_dtype(op, x);
  if (gives_bool(op) && isComplexType(dtype)) return map_parts(op, x);
  Tensor out = empty_as(x, gives_bool(op) ? kBool : dtype);
  Tensor kept;
  if (out.numel() > 0) backend(out).map(op, as_operand(x, dtype, out.device(), kept), out);
  return out;
}

Tensor map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                const Tensor& sums) {
  const ScalarType dtype = grad.scalar_type();
  const auto ready = [dtype](const Tensor& t) { return t.defined() ? to(t, dtype) : t; };
  Tensor out = empty_as(grad, dtype);
  if (out.numel() == 0) return out;
  if (sums.defined())
    backend(out).map_grad_sums(op, grad, ready(x), ready(y), out, sums);
  else
    backend(out).map_grad(op, grad, ready(x), ready(y), out);
  return out;
}

namespace {
// Whether op gives real numbers to a power that is a number.
bool is_power(BinaryOp op, const Operand& x, const Operand& exponent) {
  return op == BinaryOp::pow && exponent.is_number() && !exponent.number.isBoolean() &&
         is_differentiable(x.tensor->operand("pow").dtype()) && !exponent.number.isComplex();
}
// The row that gives x to a power in a few instructions, if there is one.
std::optional<UnaryOp> easy_power(BinaryOp op, const Operand& x, const Operand& exponent) {
  if (!is_power(op, x, exponent)) return {};
  const double power = exponent.number.toDouble();
  if (power == 2) return UnaryOp::square;
  if (power == 0.5) return UnaryOp::sqrt;
  if (power == -1) return UnaryOp::reciprocal;
  return {};
}

// Whether a result of x can be written to `out` at once, if that has its shape.
template <class Op>
bool writes_at_once(Op op, ScalarType common, const Tensor& x, const Tensor& out) {
  if (out.device() != x.device() || !can_replace(out, x)) return false;
  return out.dtype() == (gives_bool(op) ? kBool : common);
}
}  // namespace

Tensor zip(BinaryOp op, const Operand& self, const Operand& other) {
  if (const auto power = easy_power(op, self, other)) return map(*power, *self.tensor);
  if (is_power(op, self, other) && other.number.toDouble() == 3 && !self.tensor->is_complex())
    return ternary(TernaryOp::product, *self.tensor, *self.tensor, *self.tensor);
  const ZipTypes types = zip_types(op, self, other);
  const Operand x = beside(self, other), y = beside(other, self);
  check_devices(op, x, y);
  const ScalarType dtype = types.result;
  const Tensor& one = x.is_number() ? *y.tensor : *x.tensor;
  Tensor out;
  if (x.is_number() || y.is_number() || x.tensor->sizes() == y.tensor->sizes()) {
    out = empty_as(one, dtype);
  } else {
    const Dims sizes = broadcast_shapes(name_of(op), x.tensor->sizes(), y.tensor->sizes());
    if (one.sizes() == sizes || y.tensor->sizes() == sizes)
      out = empty_as(one.sizes() == sizes ? one : *y.tensor, dtype);
    else
      out = empty(sizes, dtype, one.device());
  }
  run_zip(op, x, y, types, out);
  return out;
}

bool map_into(UnaryOp op, const Tensor& x, const Tensor& out) {
  const ScalarType dtype = map_dtype(op, x);
  if (gives_bool(op) && isComplexType(dtype)) return false;
  if (out.sizes() != x.sizes() || !writes_at_once(op, dtype, x, out)) return false;
  Tensor kept;
  if (out.numel() > 0) backend(out).map(op, as_operand(x, dtype, out.device(), kept), out);
  return true;
}

bool zip_into(BinaryOp op, const Operand& self, const Operand& other, const Tensor& out) {
  if (const auto power = easy_power(op, self, other)) return map_into(*power, *self.tensor, out);
  const ZipTypes types = zip_types(op, self, other);
  const Operand x = beside(self, other), y = beside(other, self);
  check_devices(op, x, y);
  for (const Operand* one : {&x, &y})
    if (!one->is_number() && !writes_at_once(op, types.common, *one->tensor, out)) return false;
  const bool same_sizes = (x.is_number() || x.tensor->sizes() == out.sizes()) &&
                          (y.is_number() || y.tensor->sizes() == out.sizes());
  if (!same_sizes) {
    if (x.is_number() || y.is_number()) return false;
    const Dims sizes = broadcast_shapes(name_of(op), x.tensor->sizes(), y.tensor->sizes());
    if (out.sizes() != sizes) return false;
  }
  run_zip(op, x, y, types, out);
  return true;
}

void map_(UnaryOp op, const Tensor& x) {
  check_can_cast(name_of(op), "_", map_dtype(op, x), x.dtype());
  if (!map_into(op, x, x)) copy_(x, map(op, x));
}

void zip_(BinaryOp op, const Tensor& x, const Operand& y) {
  const ZipTypes types = zip_types(op, x, y);
  check_devices(op, x, beside(y, x));
  check_can_cast(name_of(op), "_", types.result, x.dtype());
  if (!y.is_number()) {
    const Dims sizes = broadcast_shapes(name_of(op), x.sizes(), y.tensor->sizes());
    check_output_shape(name_of(op), "_", x.sizes(), sizes);
  }
  if (!zip_into(op, x, y, x)) copy_(x, zip(op, x, y));
}

}  // namespace raw
}  // namespace gradus
