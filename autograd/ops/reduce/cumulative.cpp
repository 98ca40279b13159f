// cumsum, cumprod, cummax, cummin and logcumsumexp, with their gradients.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/ops/reduce.h"

#include <cmath>

namespace gradus {

namespace {

// The first n elements of x along dim.
Tensor head(const Tensor& x, int64_t dim, int64_t n) { return x.narrow(dim, 0, n); }
// x without its first element along dim, and `last` behind the others.
Tensor moved_up(const Tensor& x, int64_t dim, const Scalar& last) {
  const int64_t n = x.size(dim);
  return cat({x.narrow(dim, 1, n - 1), full_like(head(x, dim, 1), last)}, dim);
}

// s with s[i] = g[i] + f[i] s[i + 1] along dim, where s is 0 behind the end. Two neighbours make
// one step of a recurrence of half the length. So n elements take log2(n) rounds of n, n / 2, n / 4
// ... multiplications, and no division.
Tensor recurrence(const Tensor& g, const Tensor& f, int64_t dim) {
  const int64_t n = g.size(dim);
  if (n <= 1) return g;
  if (n % 2 == 1) {
    const auto padded = [&](const Tensor& x) { return cat({x, zeros_like(head(x, dim, 1))}, dim); };
    return head(recurrence(padded(g), padded(f), dim), dim, n);
  }
  const auto every_second = [dim](const Tensor& x, int64_t first) {
    return x.slice(dim, first, std::nullopt, 2);
  };
  const Tensor g0 = every_second(g, 0), g1 = every_second(g, 1);
  const Tensor f0 = every_second(f, 0), f1 = every_second(f, 1);
  const Tensor even = recurrence(g0 + f0 * g1, f0 * f1, dim);
  const Tensor odd = g1 + f1 * moved_up(even, dim, 0);
  return stack({even, odd}, dim + 1).flatten(dim, dim + 1);
}

// The products of complex numbers: each round doubles how many neighbours an element is of.
Tensor complex_products(const Tensor& x, int64_t dim) {
  const NoGradGuard guard;
  Tensor out = x.clone();
  const int64_t d = wrap_dim("cumprod", dim, x), n = x.dim() == 0 ? 1 : x.size(d);
  for (int64_t reach = 1; reach < n; reach *= 2)
    out = cat({head(out, d, reach), out.narrow(d, reach, n - reach) * head(out, d, n - reach)}, d);
  return out;
}

// Lists with a dimension to go along, for the derivatives of scans.
struct Lists {
  Dims sizes;
  int64_t dim;

  Lists(const char* op, const Tensor& x, int64_t d)
      : sizes(x.impl().sizes), dim(wrap_dim(op, d, x)) {}
  Tensor enter(const Tensor& x) const { return sizes.empty() ? x.reshape({1}) : x; }
  Tensor leave(const Tensor& x) const { return sizes.empty() ? x.reshape({}) : x; }
};

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(cumsum, self, dim, dtype);
  Tensor out = raw::scan(ScanOp::cumsum, self, dim, dtype);
  if (recording(self) && is_differentiable(out.dtype()))
    record("CumsumBackward0", out, {self}, {}, [dim](Node&, const Tensor& grad) -> Tensors {
      if (grad.dim() == 0) return {grad};
      return {grad.flip(dim).cumsum(dim).flip(dim)};
    });
  return out;
}

Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(cumprod, self, dim, dtype);
  const Tensor x = dtype ? self.to(*dtype) : self;
  Tensor out =
      x.is_complex() ? complex_products(x, dim) : raw::scan(ScanOp::cumprod, x, dim, dtype);
  if (recording(x) && is_differentiable(out.dtype()))
    record("CumprodBackward0", out, {x}, {x, out},
           [as = Lists("cumprod", x, dim)](Node& n, const Tensor& grad) -> Tensors {
             if (grad.numel() == 0) return {grad};
             // dy[k] / dx[i] is the product of what stands before i and what stands from i + 1 to
             // k.
             const Tensor list = as.enter(n.saved(0).conj()), y = as.enter(n.saved(1).conj());
             const int64_t d = as.dim, last = list.size(d) - 1;
             const Tensor before = cat({ones_like(head(list, d, 1)), head(y, d, last)}, d);
             return {as.leave(before * recurrence(as.enter(grad), moved_up(list, d, 0), d))};
           });
  return out;
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  Tensor out = raw::scan(ScanOp::logcumsumexp, self, dim);
  if (recording(self))
    record("LogcumsumexpBackward0", out, {self}, {self, out},
           [as = Lists("logcumsumexp", self, dim)](Node& n, const Tensor& grad) -> Tensors {
             if (grad.numel() == 0) return {grad};
             // The sum of g[k] e^(x[i] - y[k]) over k >= i, in steps of e^(y[i] - y[i + 1]): no
             // exponent is above 0, as y never falls. Where y is -inf there is nothing to grow.
             const Tensor list = as.enter(n.saved(0)), y = as.enter(n.saved(1));
             const auto share = [](const Tensor& part, const Tensor& whole) {
               const Tensor none = whole == -INFINITY;
               return where(none, 0, (where(none, 0, part) - where(none, 0, whole)).exp());
             };
             const Tensor steps = share(y, moved_up(y, as.dim, INFINITY));
             return {as.leave(share(list, y) * recurrence(as.enter(grad), steps, as.dim))};
           });
  return out;
}

namespace {
TensorPair running_extreme(const char* node, bool largest, const Tensor& self, int64_t dim) {
  const auto [values, indices] = raw::arg_scan(largest, self, dim);
  record_selection(node, values, self, dim, indices);
  return {values, indices};
}
}  // namespace

TensorPair cummax(const Tensor& self, int64_t dim) {
  return running_extreme("CummaxBackward0", true, self, dim);
}
TensorPair cummin(const Tensor& self, int64_t dim) {
  return running_extreme("CumminBackward0", false, self, dim);
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  GRADUS_AUTOCAST(vander, x, N, increasing);
  check(x.operand("vander", "x").dim() == 1, "vander: x has shape ", x.sizes(),
        ", expected one dimension");
  const int64_t columns = N.value_or(x.size(0));
  check(columns >= 0, "vander: N is ", columns, ", expected 0 or more");
  const TensorOptions options =
      x.options().dtype(is_differentiable(x.dtype()) ? x.scalar_type() : kLong);
  if (columns == 0) return empty({x.size(0), 0}, options);
  const Tensor factors = x.to(options).unsqueeze(1).expand({x.size(0), columns - 1});
  const Tensor powers = cat({ones({x.size(0), 1}, options), factors}, 1).cumprod(1);
  return increasing ? powers : powers.flip(1);
}

}  // namespace gradus
