// gather, scatter and where: checks, and one call of the backend.
#include "gradus/tensor/raw/operand.h"
#include "gradus/tensor/raw/scatter_touched.h"

namespace gradus::raw {

namespace {

// Checks the index of gather and scatter; returns the dimension counted from 0.
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
                  const Operand& src, const Tensor& out) {
  if (index.numel() == 0) return;
  if (out.is_complex() && src.is_number()) {
    Tensor number;
    return scatter_into(op, rule, dim, index, as_tensor(src, index.sizes(), out, number), out);
  }
  if (op == ScatterOp::set) return backend(out).scatter(op, rule, dim, index, src, out);
  if (op == ScatterOp::sum && out.is_complex()) {
    const Tensor parts = raw::view_as_real(to(*src.tensor, out.scalar_type()));
    const Tensor places = raw::expand(raw::unsqueeze(index, index.dim()), parts.sizes());
    return scatter_into(op, rule, dim, places, parts, raw::view_as_real(out));
  }
  // Computed in the type of numbers, and rounded once.
  const ScalarType compute = computed_type(out.scalar_type());
  const Tensor from = to(*src.tensor, compute);
  if (compute == out.dtype()) return backend(out).scatter(op, rule, dim, index, from, out);
  if (touches_few(out, index.sizes()))
    return change_touched(rule, out, dim, index, [&](const Tensor& copy, const Tensor& places) {
      const Tensor wide = to(copy, compute);
      backend(out).scatter(op, {rule.op, dim, index.sizes()[dim]}, dim, places, from, wide);
      return to(wide, out.scalar_type());
    });
  const Tensor wide = to(out, compute);
  backend(out).scatter(op, rule, dim, index, from, wide);
  raw::copy_(out, wide);
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, const char* op) {
  const int64_t d = check_index(op, x, dim, index);
  Tensor out = empty(index.sizes(), x.dtype(), x.device());
  const Tensor from = lifted(x);
  gather_into({op, d, from.sizes()[d]}, from, d, lifted(index), lifted(out));
  return out;
}

void scatter_(const char* name, ScatterOp op, const Tensor& x, int64_t dim, const Tensor& index,
              const Operand& src) {
  const int64_t d = check_index(name, x, dim, index);
  const Tensor to = lifted(x);
  const IndexRule rule{name, d, to.sizes()[d]};
  if (src.is_number()) {
    check_fits(name, src.number, x.dtype());
    return scatter_into(op, rule, d, apart(lifted(index), x), src, to);
  }
  check_same_device(name, x, "self", *src.tensor, "src");
  check<TypeError>(src.tensor->dtype() == x.dtype(), name, ": src has dtype ", src.tensor->dtype(),
                   ", self has ", x.dtype(), "; convert one with .to(...)");
  if (index.numel() == 0) return;
  scatter_into(op, rule, d, apart(lifted(index), x), apart(under(name, index, *src.tensor), x), to);
}

Tensor where(const Tensor& condition, const Operand& first, const Operand& second) {
  const ScalarType chooser = condition.operand("where", "condition").dtype();
  check<TypeError>(chooser == kBool || chooser == kByte, "where: condition has dtype ", chooser,
                   ", expected bool; compare with 0");
  Dims sizes = condition.impl().sizes;
  const auto beside = [&](const Operand& o, const char* name) {
    const Operand x =
        o.is_number() ? o : number_beside(o.tensor->operand("where", name), condition);
    if (x.is_number()) return x;
    check_same_device("where", condition, "condition", *x.tensor, name);
    sizes = broadcast_shapes("where", sizes, x.tensor->sizes());
    return x;
  };
  const Operand x = beside(first, "self"), y = beside(second, "other");
  const ScalarType dtype = result_type(first, second);
  Tensor out = empty(sizes, dtype, condition.device()), kept[2];
  if (out.numel() == 0) return out;
  const auto operand = [&](const Operand& o, bool given_number, Tensor& tensor) -> Operand {
    if (!o.is_number()) return tensor = broadcast(to(*o.tensor, dtype), sizes);
    // A number beyond the range of 16 bits becomes infinity. In integers an element of a tensor
    // wraps around, and a number is refused.
    if (given_number && !isFloatingType(dtype)) check_fits("where", o.number, dtype);
    if (!isComplexType(dtype)) return as_element(o.number, dtype);
    return as_tensor(o, sizes, out, tensor);
  };
  const Tensor chosen = broadcast(to(condition, kBool), sizes);
  const Operand a = operand(x, first.is_number(), kept[0]),
                b = operand(y, second.is_number(), kept[1]);
  if (b.is_number() && a.is_number()) {
    backend(out).fill(out, b.number);
    backend(out).where(chosen, a, out, out);
  } else {
    backend(out).where(chosen, a, b, out);
  }
  return out;
}

void masked_fill_(const Tensor& x, const Tensor& mask, const Tensor& value) {
  if (x.numel() == 0) return;
  const Tensor chosen = broadcast(apart(to(mask, kBool), x), x.sizes());
  const Operand number = number_beside(value, x);
  if (number.is_number() && !x.is_complex())
    return backend(x).where(chosen, as_element(number.number, x.dtype()), x, x);
  if (number.is_number()) {
    Tensor kept;
    return backend(x).where(chosen, as_tensor(number, x.sizes(), x, kept), x, x);
  }
  backend(x).where(chosen, raw::expand(apart(to(value, x.dtype()), x), x.sizes()), x, x);
}

void masked_scatter_(const Tensor& x, const Tensor& mask, const Tensor& source) {
  if (x.numel() == 0) return;
  const Tensor chosen = broadcast(apart(to(mask, kBool), x), x.sizes());
  if (source.numel() < x.numel()) {
    const int64_t found = item(raw::count_nonzero(chosen)).toLong();
    check(source.numel() >= found, "masked_scatter: source has ", source.numel(),
          " elements, and mask chooses ", found, "; give source at least as many");
    if (found == 0) return;
  }
  backend(x).masked_scatter(chosen, raw::contiguous(apart(source, x)), x);
}

}  // namespace gradus::raw
