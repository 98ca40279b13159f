// Scans, sorting, and the search for elements that are not 0.
#include "gradus/tensor/raw/raw.h"

namespace gradus {

const char* name_of(ScanOp op) {
  static constexpr const char* names[] = {
#define SCAN(name, ...) #name,
#include "gradus/tensor/table/scans.def"
  };
  return names[static_cast<int>(op)];
}

namespace raw {

namespace {
ScalarType scan_dtype(ScanOp op, const Tensor& x, std::optional<ScalarType> asked) {
  const ScalarType dtype = asked.value_or(x.dtype());
  if (op == ScanOp::logcumsumexp)
    check<TypeError>(isFloatingType(dtype), "logcumsumexp: dtype ", dtype,
                     " is not a floating point type; convert with .to(kFloat)");
  if (!asked && !is_differentiable(dtype)) return kLong;
  check<TypeError>(dtype != kBool, name_of(op),
                   ": dtype bool cannot hold the result; leave dtype out, or pass kLong");
  return dtype;
}
}  // namespace

Tensor scan(ScanOp op, const Tensor& x, int64_t dim, std::optional<ScalarType> asked) {
  const int64_t d = wrap_dim(name_of(op), dim, x);
  if (op == ScanOp::cumsum && isComplexType(asked.value_or(x.dtype()))) {
    if (x.dim() == 0) return raw::clone(to(x, scan_dtype(op, x, asked)));
    return raw::alias(
        raw::view_as_complex(raw::scan(op, raw::view_as_real(to(x, scan_dtype(op, x, asked))), d)));
  }
  const ScalarType dtype = scan_dtype(op, x, asked), compute = computed_type(dtype);
  Tensor out = empty(x.sizes(), compute, x.device());
  if (out.numel() > 0) backend(x).scan(op, lifted(to(to(x, dtype), compute)), d, lifted(out));
  return to(std::move(out), dtype);
}

ValuesAndIndices arg_scan(bool largest, const Tensor& x, int64_t dim) {
  const char* const op = largest ? "cummax" : "cummin";
  check_ordered(op, x);
  const int64_t d = wrap_dim(op, dim, x);
  const ScalarType compute = computed_type(x.dtype());
  Tensor values = empty(x.sizes(), compute, x.device());
  Tensor indices = empty(x.sizes(), kLong, x.device());
  if (values.numel() > 0)
    backend(x).arg_scan(largest, lifted(to(x, compute)), d, lifted(values), lifted(indices));
  return {to(values, x.dtype()), indices};
}

namespace {

// The dtype in which elements are ordered. A float holds every number of 16 bits, and is sorted in
// half the time of an int64.
ScalarType ordered_type(const Tensor& x) {
  return x.element_size() <= 2 ? kFloat : computed_type(x.dtype());
}

// Calls f(x, dim, values, indices) for `count` results along dim.
template <class F>
ValuesAndIndices some_of_order(const char* op, const Tensor& x, int64_t dim, int64_t count,
                               const F& f) {
  check_ordered(op, x);
  const int64_t d = wrap_dim(op, dim, x);
  const ScalarType ordered = ordered_type(x);
  Dims sizes = x.impl().sizes;
  if (x.dim() > 0) sizes[d] = count;
  Tensor values = empty(sizes, ordered, x.device()), indices = empty(sizes, kLong, x.device());
  if (values.numel() > 0) f(lifted(to(x, ordered)), d, lifted(values), lifted(indices));
  return {to(std::move(values), x.dtype()), std::move(indices)};
}

}  // namespace

ValuesAndIndices select(const char* op, const Tensor& x, int64_t dim, bool descending,
                        int64_t first, int64_t count) {
  return some_of_order(
      op, x, dim, count,
      [&](const Tensor& lines, int64_t d, const Tensor& values, const Tensor& indices) {
        backend(x).select(lines, d, descending, first, values, indices);
      });
}

ValuesAndIndices median(const char* op, const Tensor& x, int64_t dim, bool ignores_nan) {
  return some_of_order(
      op, x, dim, 1,
      [&](const Tensor& lines, int64_t d, const Tensor& values, const Tensor& indices) {
        backend(x).median(ignores_nan, lines, d, values, indices);
      });
}

ValuesAndIndices mode(const Tensor& x, int64_t dim) {
  return some_of_order("mode", x, dim, 1,
                       [&](const Tensor& lines, int64_t d, const Tensor& values,
                           const Tensor& indices) { backend(x).mode(lines, d, values, indices); });
}

ValuesAndIndices sort(const Tensor& x, int64_t dim, bool descending) {
  check_ordered("sort", x);
  const int64_t d = wrap_dim("sort", dim, x);
  const ScalarType ordered = ordered_type(x);
  // PyTorch's sort keeps the order of the dimensions in memory; its scans do not.
  Tensor values = empty_as(x, ordered), indices = empty_as(x, kLong);
  if (values.numel() > 0)
    backend(x).sort(lifted(to(x, ordered)), d, descending, lifted(values), lifted(indices));
  return {to(values, x.dtype()), indices};
}

Tensor flat_nonzero(const Tensor& x) {
  if (x.is_complex()) return raw::flat_nonzero(to(x, kBool));
  if (x.numel() == 0) return empty({0}, kLong, x.device());
  const Tensor found = backend(x).nonzero(x, {x.numel()});
  return over_storage(found.impl().storage, {found.numel()}, kLong);
}

Tensor nonzero(const Tensor& x) {
  if (x.is_complex()) return raw::nonzero(to(x, kBool));
  const Tensor found =
      x.numel() == 0 ? empty({x.dim(), 0}, kLong, x.device()) : backend(x).nonzero(x, x.sizes());
  return raw::alias(raw::transpose(found, 0, 1));
}

}  // namespace raw
}  // namespace gradus
