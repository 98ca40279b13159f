// diff and gradient, the differences of neighbours; trapezoid and cumulative_trapezoid.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

void check_fits(const Tensor& self, const Tensor& other, const char* name) {
  check(self.operand("diff").dim() == other.dim(), "diff: ", name, " has shape ", other.sizes(),
        ", expected as many dimensions as self of shape ", self.sizes());
}

// The elements along dim that have a neighbour before them, and those that have one behind them.
Tensor later(const Tensor& x, int64_t dim) { return x.narrow(dim, 1, x.size(dim) - 1); }
Tensor earlier(const Tensor& x, int64_t dim) { return x.narrow(dim, 0, x.size(dim) - 1); }

}  // namespace

Tensor diff(const Tensor& self, int64_t n, int64_t dim) {
  check(self.dim() > 0, "diff: self has no dimensions, expected 1 or more");
  check(n >= 0, "diff: n is ", n, ", expected 0 or more");
  const int64_t d = wrap_dim("diff", dim, self);
  if (n == 0) return self.clone();
  Tensor out = self;
  for (int64_t i = 0; i < n && out.size(d) > 0; ++i)
    out = out.dtype() == kBool ? later(out, d) != earlier(out, d) : later(out, d) - earlier(out, d);
  return out;
}
Tensor diff(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend) {
  return diff(self, n, dim, prepend, std::nullopt);
}
Tensor diff(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
            const std::optional<Tensor>& append) {
  if (n == 0) return diff(self, n, dim);  // without what stands beside it, as in PyTorch
  check(self.dim() > 0, "diff: self has no dimensions, expected 1 or more");
  Tensors parts;
  if (prepend && prepend->defined())
    check_fits(self, *prepend, "prepend"), parts.push_back(*prepend);
  parts.push_back(self);
  if (append && append->defined()) check_fits(self, *append, "append"), parts.push_back(*append);
  return diff(parts.size() == 1 ? self : cat(parts, dim), n, dim);
}

namespace {

// The distances of samples at x, which may be one list for all of y.
Tensor widths(const Tensor& y, const Tensor& x, int64_t dim) {
  if (x.operand("trapezoid", "x").dim() != 1 || y.dim() == 1)
    return diff(x, 1, x.dim() == y.dim() ? dim : dim - y.dim());
  check(x.size(0) == y.size(dim), "trapezoid: x has ", x.size(0), " elements, dimension ", dim,
        " of y has size ", y.size(dim));
  Dims shape = Dims::filled(y.dim(), 1);
  shape[dim] = x.size(0) - 1;
  return diff(x).reshape(shape);
}

int64_t samples_dim(const Tensor& y, int64_t dim) {
  check(y.operand("trapezoid", "y").dim() > 0,
        "trapezoid: y has no dimensions, expected 1 or more");
  raw::check_number("trapezoid", y);
  return wrap_dim("trapezoid", dim, y);
}

// Adds the areas of the trapezoids between neighbours; fold(x, d) adds up twice these areas. A
// width that is a number comes last, so that it multiplies sums.
template <class Fold>
Tensor integral(const Tensor& y, const Tensor& widths, int64_t d, Fold fold) {
  if (y.size(d) == 0) return fold(y, d) / 2.0;
  return fold((later(y, d) + earlier(y, d)) * widths, d) / 2.0;
}
template <class Fold>
Tensor integral(const Tensor& y, const Scalar& width, int64_t d, Fold fold) {
  if (y.size(d) == 0) return fold(y, d) / 2.0;
  return fold(later(y, d) + earlier(y, d), d) * width / 2.0;
}
Tensor total(const Tensor& x, int64_t dim) { return x.sum(dim); }
Tensor so_far(const Tensor& x, int64_t dim) { return x.cumsum(dim); }

}  // namespace

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t d = samples_dim(y, dim);
  const Tensor apart = widths(y, x, d);
  return y.size(d) == 0 ? y.sum(d, false, y.scalar_type()) : integral(y, apart, d, total);
}
Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  const int64_t d = samples_dim(y, dim);
  // Small integers wrap around in the sum of two neighbours.
  if (y.size(d) == 0) return y.sum(d, false, y.scalar_type());
  if (!y.is_floating_point()) return integral(y, dx, d, total);
  return (later(y, d).sum(d) + earlier(y, d).sum(d)) * dx / 2.0;  // two sums that only read
}
Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) { return trapezoid(y, x, dim); }
Tensor trapz(const Tensor& y, double dx, int64_t dim) { return trapezoid(y, Scalar(dx), dim); }
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t d = samples_dim(y, dim);
  return integral(y, widths(y, x, d), d, so_far);
}
Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  return integral(y, dx, samples_dim(y, dim), so_far);
}

namespace {
// Slopes along one dimension: between both neighbours, and at the two ends of those beside them, to
// the order of edge_order.
Tensor slopes(const Tensor& x, const Scalar& spacing, int64_t dim, int64_t edge_order) {
  const int64_t n = x.size(dim);
  check(n > edge_order, "gradient: dimension ", dim, " has size ", n, ", expected more than ",
        edge_order, ", which is edge_order");
  const auto at = [&](int64_t i) { return x.narrow(dim, i < 0 ? i + n : i, 1); };
  const Tensor inner = (x.narrow(dim, 2, n - 2) - x.narrow(dim, 0, n - 2)) / 2;
  if (edge_order == 1) return cat({at(1) - at(0), inner, at(-1) - at(-2)}, dim) / spacing;
  return cat({(4 * at(1) - 3 * at(0) - at(2)) / 2, inner, (3 * at(-1) - 4 * at(-2) + at(-3)) / 2},
             dim) /
         spacing;
}
}  // namespace

Tensors gradient(const Tensor& self, const std::optional<Scalar>& spacing,
                 std::optional<int64_t> dim, int64_t edge_order) {
  check(edge_order == 1 || edge_order == 2, "gradient: edge_order is ", edge_order,
        ", expected 1 or 2");
  const Scalar by = spacing.value_or(1);
  if (dim) return {slopes(self, by, wrap_dim("gradient", *dim, self), edge_order)};
  Tensors out;
  for (int64_t d = 0; d < self.operand("gradient").dim(); ++d)
    out.push_back(slopes(self, by, d, edge_order));
  return out;
}

}  // namespace gradus
