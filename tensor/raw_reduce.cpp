#include "gradus/tensor/raw.h"

namespace gradus {

const char* name_of(ReduceOp op) {
  static constexpr const char* names[] = {
#define REDUCTION(name, ...) #name,
#include "gradus/tensor/reductions.def"
  };
  return names[static_cast<int>(op)];
}

namespace raw {

namespace {
bool picks_an_element(ReduceOp op) { return op == ReduceOp::amax || op == ReduceOp::amin; }

// Sums and products of integers count in int64; a mean needs a floating point type.
ScalarType reduce_dtype(ReduceOp op, const Tensor& x, std::optional<ScalarType> asked) {
  const ScalarType dtype = asked.value_or(x.dtype());
  if (op == ReduceOp::mean)
    check<TypeError>(isFloatingType(dtype), "mean: dtype ", dtype,
                     " is not a floating point type; convert with .to(kFloat), or pass dtype");
  const bool counts = op == ReduceOp::sum || op == ReduceOp::prod;
  if (counts && !asked && !isFloatingType(dtype)) return kLong;
  return dtype;
}
}  // namespace

Tensor reduce(ReduceOp op, const Tensor& x, OptionalIntArrayRef dims,
              std::optional<ScalarType> asked) {
  const ScalarType dtype = reduce_dtype(op, x, asked);
  const auto mask = dim_mask(name_of(op), dims, x.dim());
  Dims sizes = x.impl().sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!mask[d]) continue;
    check<IndexError>(sizes[d] > 0 || !picks_an_element(op), name_of(op), ": dimension ", d,
                      " of shape ", x.sizes(), " has size 0, and an empty set has no such element");
    sizes[d] = 1;
  }
  const ScalarType compute = computed_type(dtype);
  Tensor out = empty(sizes, compute, x.device());
  if (out.numel() > 0) backend(out).reduce(op, to(to(x, dtype), compute), out);
  return to(std::move(out), dtype);
}

ValuesAndIndices arg_reduce(const char* name, bool largest, const Tensor& x, int64_t dim) {
  const int64_t d = wrap_dim(name, dim, x.dim());
  if (x.dim() == 0)
    return {raw::clone(x), [&] {
              Tensor zero = empty({}, kLong, x.device());
              fill_(zero, 0);
              return zero;
            }()};
  Dims sizes = x.impl().sizes;
  check<IndexError>(sizes[d] > 0, name, ": dimension ", d, " of shape ", x.sizes(),
                    " has size 0, and an empty set has no such element");
  sizes[d] = 1;
  const ScalarType compute = computed_type(x.dtype());
  Tensor values = empty(sizes, compute, x.device());
  Tensor indices = empty(sizes, kLong, x.device());
  if (values.numel() > 0) backend(x).arg_reduce(largest, to(x, compute), d, values, indices);
  return {to(values, x.dtype()), indices};
}

}  // namespace raw
}  // namespace gradus
