// gather, scatter and where: checks, and one call of the backend.
#include "gradus/tensor/raw/operand.h"

namespace gradus::raw {

namespace {

// What gather and scatter ask of an index; returns the dimension counted from 0.
int64_t check_index(const char* op, const Tensor& x, int64_t dim, const Tensor& index) {
  check_same_device(op, x, "self", index, "index");
  check<TypeError>(index.dtype() == kLong, op, ": Expected dtype int64 for index, not ",
                   index.dtype(), "; convert with .to(kLong)");
  const int64_t d = wrap_dim(op, dim, x);
  if (index.numel() == 0) return d;
  const Tensor selected = lifted(index), from = lifted(x);
  check(selected.dim() == from.dim(), op,
        ": Index tensor must have the same number of dimensions as input tensor, and has ",
        index.dim(), ", not ", x.dim());
  for (int64_t i = 0; i < x.dim(); ++i)
    check(i == d || index.sizes()[i] <= x.sizes()[i], op, ": index of shape ", index.sizes(),
          " is larger than self of shape ", x.sizes(), " at dimension ", i);
  return d;
}

// The part of src under an index.
Tensor under(const char* op, const Tensor& index, const Tensor& src) {
  const Tensor positions = lifted(index);
  Tensor part = lifted(src);
  check(positions.dim() == part.dim(), op, ": src has shape ", src.sizes(), ", index ",
        index.sizes(), "; expected the same number of dimensions");
  for (int64_t i = 0; i < positions.dim(); ++i) {
    check(positions.sizes()[i] <= part.sizes()[i], op, ": index of shape ", index.sizes(),
          " is larger than src of shape ", src.sizes(), " at dimension ", i);
    if (positions.sizes()[i] != part.sizes()[i])
      part = raw::narrow(part, i, 0, positions.sizes()[i]);
  }
  return part;
}

// x itself where it needs no view.
Tensor broadcast(const Tensor& x, IntArrayRef sizes) {
  return x.sizes() == sizes ? x : raw::expand(x, sizes);
}

}  // namespace

Tensor apart(const Tensor& x, const Tensor& changed) {
  return x.impl().storage == changed.impl().storage ? raw::clone(x) : x;
}

void gather_into(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
                 const Tensor& out) {
  if (out.numel() > 0) backend(out).gather(rule, x, dim, index, out);
}

void scatter_into(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
                  const Tensor& src, const Tensor& out) {
  if (index.numel() == 0) return;
  const ScalarType compute =
      op == ScatterOp::set ? out.scalar_type() : computed_type(out.scalar_type());
  // Computed in the type of numbers, and rounded once.
  const Tensor wide = to(out, compute);
  backend(out).scatter(op, rule, dim, index, to(src, compute), wide);
  if (compute != out.dtype()) raw::copy_(out, wide);
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, const char* op) {
  const int64_t d = check_index(op, x, dim, index);
  Tensor out = empty(index.sizes(), x.dtype(), x.device());
  const Tensor from = lifted(x);
  gather_into({op, d, from.sizes()[d]}, from, d, lifted(index), lifted(out));
  return out;
}

void scatter_(const char* name, ScatterOp op, const Tensor& x, int64_t dim, const Tensor& index,
              const Tensor& src) {
  const int64_t d = check_index(name, x, dim, index);
  check_same_device(name, x, "self", src, "src");
  check<TypeError>(src.dtype() == x.dtype(), name, ": src has dtype ", src.dtype(), ", self has ",
                   x.dtype(), "; convert one with .to(...)");
  if (index.numel() == 0) return;
  const Tensor to = lifted(x);
  scatter_into(op, {name, d, to.sizes()[d]}, d, apart(lifted(index), x),
               apart(under(name, index, src), x), to);
}

Tensor where(const Tensor& condition, const Operand& x, const Operand& y) {
  const ScalarType chooser = condition.operand("where", "condition").dtype();
  check<TypeError>(chooser == kBool || chooser == kByte, "where: condition has dtype ", chooser,
                   ", expected bool; compare with 0");
  Dims sizes = condition.impl().sizes;
  for (const Operand* o : {&x, &y})
    if (!o->is_number()) {
      check_same_device("where", condition, "condition", *o->tensor, o == &x ? "self" : "other");
      sizes = broadcast_shapes("where", sizes, o->tensor->sizes());
    }
  const ScalarType dtype = result_type(x, y);
  const auto operand = [&](const Operand& o) {
    if (!o.is_number()) return broadcast(to(*o.tensor, dtype), sizes);
    const Tensor number = empty({}, dtype, condition.device());
    // A number beyond the numbers of 16 bits becomes infinity.
    raw::fill_(number, isFloatingType(dtype) ? as_element(o.number, dtype) : o.number);
    return raw::expand(number, sizes);
  };
  Tensor out = empty(sizes, dtype, condition.device());
  if (out.numel() > 0)
    backend(out).where(broadcast(to(condition, kBool), sizes), operand(x), operand(y), out);
  return out;
}

void masked_fill_(const Tensor& x, const Tensor& mask, const Tensor& value) {
  if (x.numel() == 0) return;
  const Tensor chosen = apart(to(mask, kBool), x), number = apart(to(value, x.dtype()), x);
  backend(x).where(broadcast(chosen, x.sizes()), raw::expand(number, x.sizes()), x, x);
}

}  // namespace gradus::raw
