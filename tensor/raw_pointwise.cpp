#include "gradus/tensor/elementwise.h"
#include "gradus/tensor/raw.h"

namespace gradus {

const char* name_of(UnaryOp op) {
  static constexpr const char* names[] = {
#define UNARY(name, ...) #name,
#include "gradus/tensor/elementwise.def"
  };
  return names[static_cast<int>(op)];
}

const char* name_of(BinaryOp op) {
  static constexpr const char* names[] = {
#define BINARY(name, ...) #name,
#define COMPARISON(name, ...) #name,
#include "gradus/tensor/elementwise.def"
  };
  return names[static_cast<int>(op)];
}

namespace raw {

namespace {
using scalar::Ints;
constexpr Ints unary_ints[] = {
#define UNARY(name, ...) scalar::Unary<UnaryOp::name>::ints,
#include "gradus/tensor/elementwise.def"
};
constexpr Ints binary_ints[] = {
#define BINARY(name, ...) scalar::Binary<BinaryOp::name>::ints,
#define COMPARISON(name, ...) Ints::same,
#include "gradus/tensor/elementwise.def"
};
constexpr bool binary_compares[] = {
#define BINARY(name, ...) false,
#define COMPARISON(name, ...) true,
#include "gradus/tensor/elementwise.def"
};
bool compares(BinaryOp op) { return binary_compares[static_cast<int>(op)]; }

// What operands of a dtype become before they are computed with.
ScalarType enter(const char* op, Ints ints, ScalarType dtype) {
  if (isFloatingType(dtype) || ints == Ints::same) return dtype;
  check<TypeError>(ints == Ints::real, op, ": dtype ", dtype,
                   " is not supported; convert with .to(kFloat)");
  return get_default_dtype();
}

ScalarType map_dtype(UnaryOp op, const Tensor& x) {
  const Ints ints = unary_ints[static_cast<int>(op)];
  check<TypeError>(x.dtype() != kBool || ints != Ints::same, name_of(op),
                   ": dtype bool is not supported; convert with .to(kLong)");
  return enter(name_of(op), ints, x.dtype());
}

// Of a pair: what both operands become first, what to compute in, and what comes out.
struct ZipTypes {
  ScalarType common, compute, result;
};
ZipTypes zip_types(BinaryOp op, const Operand& x, const Operand& y) {
  const ScalarType common =
      enter(name_of(op), binary_ints[static_cast<int>(op)], result_type(x, y));
  if (compares(op)) return {common, computed_type(common), kBool};
  check<TypeError>(common != kBool || op != BinaryOp::sub,
                   "sub: bool operands cannot be subtracted; convert with .to(kLong)");
  return {common, computed_type(common), common};
}

// An operand as it enters: rounded, or wrapped around, to the common dtype.
Tensor prepare(const Tensor& x, const ZipTypes& types, IntArrayRef shape) {
  Tensor out = to(to(x, types.common), types.compute);
  return out.sizes() == shape ? out : raw::expand(out, shape);
}
Scalar prepare(const Scalar& x, const ZipTypes& types) {
  if (types.common == types.compute || types.common == kBool) return x;
  return visit(types.common, [&]<class T>(TypeTag<T>) -> Scalar { return x.to<T>(); });
}

void run_zip(BinaryOp op, const Operand& x, const Operand& y, const ZipTypes& types,
             const Tensor& out) {
  if (out.numel() == 0) return;
  const auto ready = [&](const Operand& o) {
    return o.is_number() ? types.common == types.compute
                         : o.tensor->dtype() == types.compute && types.common == types.compute &&
                               o.tensor->sizes() == out.sizes();
  };
  if (ready(x) && ready(y)) return backend(out).zip(op, x, y, out);
  Tensor tensors[2];
  const auto operand = [&](const Operand& o, Tensor& kept) {
    if (o.is_number()) return Operand(prepare(o.number, types));
    kept = prepare(*o.tensor, types, out.sizes());
    return Operand(kept);
  };
  backend(out).zip(op, operand(x, tensors[0]), operand(y, tensors[1]), out);
}

void check_devices(BinaryOp op, const Operand& x, const Operand& y) {
  if (!x.is_number() && !y.is_number())
    check_same_device(name_of(op), *x.tensor, "self", *y.tensor, "other");
}
}  // namespace

ScalarType result_type(const Operand& x, const Operand& y) {
  // Three ranks: tensors with dimensions, tensors without, numbers. A lower rank decides only
  // where its category (bool, integer, floating) is higher.
  ScalarType by_rank[3] = {kBool, kBool, kBool};
  bool present[3] = {false, false, false};
  for (const Operand* o : {&x, &y}) {
    const int rank = o->is_number() ? 2 : o->tensor->dim() == 0 ? 1 : 0;
    ScalarType dtype = o->is_number() ? o->number.type() : o->tensor->scalar_type();
    if (o->is_number() && isFloatingType(dtype)) dtype = get_default_dtype();
    by_rank[rank] = present[rank] ? promoteTypes(by_rank[rank], dtype) : dtype;
    present[rank] = true;
  }
  bool decided = false;
  ScalarType out = kBool;
  for (int rank = 0; rank < 3; ++rank) {
    if (!present[rank]) continue;
    if (!decided || kind_of(by_rank[rank]) > kind_of(out)) {
      out = decided ? promoteTypes(out, by_rank[rank]) : by_rank[rank];
    }
    decided = true;
  }
  return out;
}

Tensor map(UnaryOp op, const Tensor& x) {
  const ScalarType dtype = map_dtype(op, x);
  const ScalarType compute = computed_type(dtype);
  Tensor out = empty_as(x, compute);
  if (out.numel() > 0) backend(out).map(op, to(x, compute), out);
  return to(out, dtype);
}

Tensor map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y) {
  const ScalarType compute = computed_type(grad.dtype());
  const auto ready = [compute](const Tensor& t) { return t.defined() ? to(t, compute) : t; };
  Tensor out = empty_as(grad, compute);
  if (out.numel() > 0) backend(out).map_grad(op, ready(grad), ready(x), ready(y), out);
  return to(out, grad.dtype());
}

Tensor zip(BinaryOp op, const Operand& x, const Operand& y) {
  check_devices(op, x, y);
  const ZipTypes types = zip_types(op, x, y);
  const ScalarType dtype = compares(op) ? kBool : types.compute;
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
  return to(out, types.result);
}

void map_(UnaryOp op, const Tensor& x) {
  check<TypeError>(map_dtype(op, x) == x.dtype(), name_of(op), "_: the result of dtype ",
                   map_dtype(op, x), " cannot be stored in a tensor of ", x.dtype(),
                   "; use the form that returns a new tensor");
  if (x.numel() == 0) return;
  if (x.dtype() == computed_type(x.dtype())) return backend(x).map(op, x, x);
  copy_(x, map(op, x));
}

void zip_(BinaryOp op, const Tensor& x, const Operand& y) {
  check_devices(op, x, y);
  const ZipTypes types = zip_types(op, x, y);
  check<TypeError>(kind_of(types.result) <= kind_of(x.dtype()), name_of(op),
                   "_: the result of dtype ", types.result, " cannot be stored in a tensor of ",
                   x.dtype(), "; use the form that returns a new tensor");
  if (!y.is_number()) {
    const Dims sizes = broadcast_shapes(name_of(op), x.sizes(), y.tensor->sizes());
    check(IntArrayRef(sizes) == x.sizes(), name_of(op), "_: the result of shape ", sizes,
          " does not fit self of shape ", x.sizes(), ", which is changed in place");
  }
  // An operand that overlaps x otherwise than element on element would be read after it changed.
  Tensor safe;
  Operand other = y;
  if (!y.is_number() && y.tensor->impl().storage == x.impl().storage &&
      (y.tensor->sizes() != x.sizes() || y.tensor->strides() != x.strides() ||
       y.tensor->storage_offset() != x.storage_offset())) {
    safe = raw::clone(*y.tensor);
    other = Operand(safe);
  }
  if (types.compute == x.dtype() && types.common == x.dtype())
    return run_zip(op, x, other, types, x);
  Tensor out = empty(x.sizes(), types.compute, x.device());
  run_zip(op, x, other, types, out);
  copy_(x, to(out, types.result));
}

}  // namespace raw
}  // namespace gradus
