// reduce, arg_reduce and variance: which dimensions, which dtype.
#include "gradus/tensor/math/convert.h"
#include "gradus/tensor/raw/operand.h"
#include "gradus/tensor/raw/side_by_side.h"

namespace gradus {

const char* name_of(ReduceOp op) {
  static constexpr const char* names[] = {
#define REDUCTION(name, ...) #name,
#include "gradus/tensor/table/reductions.def"
  };
  return names[static_cast<int>(op)];
}

namespace raw {

namespace {
bool picks_an_element(ReduceOp op) { return op == ReduceOp::amax || op == ReduceOp::amin; }

// Sums and products of integers count in int64; a mean needs a floating point type.
ScalarType reduce_dtype(ReduceOp op, const Tensor& x, std::optional<ScalarType> asked) {
  const ScalarType dtype = asked.value_or(x.operand(name_of(op)).dtype());
  if (op == ReduceOp::mean)
    check<TypeError>(is_differentiable(dtype), "mean: could not infer output dtype. ",
                     asked ? "Optional" : "Input",
                     " dtype must be either a floating point or complex dtype. Got: ",
                     TypeName{dtype}, "; convert with .to(kFloat), or pass dtype");
  const bool counts = op == ReduceOp::sum || op == ReduceOp::prod;
  if (counts && !asked && !is_differentiable(dtype)) return kLong;
  return dtype;
}
// A sum or mean of complex numbers is that of their parts.
Tensor reduce_complex(ReduceOp op, const Tensor& x, OptionalIntArrayRef dims) {
  if (!x.is_complex()) return reduce(op, x, dims);
  check<TypeError>(op == ReduceOp::sum || op == ReduceOp::mean, name_of(op),
                   ": not implemented for '", TypeName{x.dtype()},
                   "'; compute with real() and imag()");
  const auto mask = dim_mask(name_of(op), dims, x);
  Dims reduced;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (mask[static_cast<size_t>(d)]) reduced.push_back(d);
  // Without dimensions there is nothing to fold, while an empty list would mean all.
  if (reduced.empty()) return raw::clone(x);
  return raw::alias(
      raw::view_as_complex(raw::reduce(op, raw::view_as_real(x), IntArrayRef(reduced))));
}
// The dtype that a result is stored in: some devices round it to a half type on the way.
ScalarType stored_type(Parameter out, const Tensor& x, ScalarType dtype, ScalarType compute) {
  const bool rounds = dtype != compute && isFloatingType(dtype) &&
                      contracts::takes_dtype(out, x.device().type(), dtype);
  return rounds ? dtype : compute;
}
// The dtype among whose numbers an element is picked: integers stay as they are.
ScalarType picked_type(ScalarType dtype) {
  return isIntegralType(dtype, /*include_bool=*/true) ? dtype : computed_type(dtype);
}
}  // namespace

Dims kept_sizes(const Tensor& x, const std::array<bool, kMaxDims>& mask) {
  Dims sizes = x.impl().sizes;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (mask[d]) sizes[d] = 1;
  return sizes;
}

void check_reducible(const char* op, const Tensor& x, int64_t dim) {
  check<IndexError>(x.dim() == 0 || x.sizes()[dim] > 0, op, ": Expected reduction dim ", dim,
                    " to have non-zero size: shape ", x.sizes(), "; leave out empty tensors");
}
void check_reducible(const char* op, const Tensor& x) {
  check<Error>(x.defined(), op, ": input is an undefined tensor; give it a value");
  check<IndexError>(x.numel() > 0, op,
                    ": Expected reduction dim to be specified for input.numel() == 0: shape ",
                    x.sizes(), "; give a dim of another size");
}

Tensor reduce(ReduceOp op, const Tensor& x, OptionalIntArrayRef dims,
              std::optional<ScalarType> asked) {
  const ScalarType dtype = reduce_dtype(op, x, asked);
  if (x.is_complex() || isComplexType(dtype)) return reduce_complex(op, to(x, dtype), dims);
  const auto mask = dim_mask(name_of(op), dims, x);
  if (picks_an_element(op) && dims.value().empty()) check_reducible(name_of(op), x);
  for (int64_t d = 0; picks_an_element(op) && d < x.dim(); ++d)
    if (mask[static_cast<size_t>(d)]) check_reducible(name_of(op), x, d);
  const ScalarType compute = picks_an_element(op) ? picked_type(dtype) : computed_type(dtype);
  Tensor out = empty(kept_sizes(x, mask), stored_type(contracts::reduce::out, x, dtype, compute),
                     x.device());
  // No rounding to dtype happens between the two.
  const bool at_once =
      converts_at_once(x.dtype(), compute) && (x.dtype() == dtype || dtype == compute);
  if (out.numel() > 0)
    reduce_alike(
        at_once ? x : to(to(x, dtype), compute), out,
        [op](const Tensor& from, const Tensor& into) { backend(into).reduce(op, from, into); });
  return to(std::move(out), dtype);
}

Tensor variance(bool root, double divisor, const Tensor& x, OptionalIntArrayRef dims) {
  const ScalarType dtype =
      stored_type(contracts::variance::out, x, x.dtype(), computed_type(x.dtype()));
  Tensor out = empty(kept_sizes(x, dim_mask("var", dims, x)), dtype, x.device());
  // An empty x gives 0 / 0.
  if (out.numel() > 0)
    reduce_alike(x, out, [&](const Tensor& from, const Tensor& into) {
      backend(into).variance(root, x.numel() > 0 ? divisor : 0, from, into);
    });
  return to(std::move(out), x.dtype());
}

Tensor norm(double p, const Tensor& x, OptionalIntArrayRef dims) {
  Tensor out =
      empty(kept_sizes(x, dim_mask("norm", dims, x)), computed_type(x.dtype()), x.device());
  if (out.numel() > 0)
    reduce_alike(
        x, out, [p](const Tensor& from, const Tensor& into) { backend(into).norm(p, from, into); });
  return to(std::move(out), x.dtype());
}

Tensor aminmax(const Tensor& x) {
  check_ordered("aminmax", x);
  Tensor out = empty({2}, x.dtype(), x.device());
  backend(out).aminmax(x, out);
  return out;
}

ValuesAndIndices arg_reduce(const char* name, bool largest, const Tensor& x, int64_t dim) {
  check_ordered(name, x);
  const int64_t d = wrap_dim(name, dim, x);
  if (x.dim() == 0)
    return {raw::clone(x), [&] {
              Tensor zero = empty({}, kLong, x.device());
              fill_(zero, 0);
              return zero;
            }()};
  Dims sizes = x.impl().sizes;
  check_reducible(name, x, d);
  sizes[d] = 1;
  const ScalarType compute = picked_type(x.scalar_type());
  Tensor values = empty(sizes, compute, x.device());
  Tensor indices = empty(sizes, kLong, x.device());
  if (values.numel() > 0) backend(x).arg_reduce(largest, to(x, compute), d, values, indices);
  return {to(values, x.dtype()), indices};
}

Tensor mean_square(const Tensor& x, const Tensor& y) {
  Tensor out = empty({}, x.dtype(), x.device());
  backend(x).mean_square(raw::contiguous(x), raw::contiguous(y), out);
  return out;
}

Tensor mean_square_grad(const Tensor& grad, const Tensor& x, const Tensor& y) {
  Tensor out = empty(x.sizes(), x.dtype(), x.device());
  backend(x).mean_square_grad(grad, raw::contiguous(x), raw::contiguous(y), out);
  return out;
}

}  // namespace raw
}  // namespace gradus
