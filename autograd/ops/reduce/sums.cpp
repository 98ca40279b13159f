// sum, nansum, mean, nanmean, prod and sum_to_size, with their gradients.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/autograd/ops/reduce.h"

namespace gradus {

namespace {

Tensor sum_or_mean(ReduceOp op, const char* node, const Tensor& self, OptionalIntArrayRef dim,
                   bool keepdim, std::optional<ScalarType> dtype) {
  const DimMask mask = dim_mask(name_of(op), dim, self);
  const Tensor kept = raw::reduce(op, self, dim, dtype);
  const Tensor out = drop(kept, mask, keepdim);
  if (!recording(self) || !is_differentiable(out.dtype())) return out;
  const double scale =
      op == ReduceOp::mean ? 1 / static_cast<double>(reduced_count(self, mask)) : 1;
  record(node, out, {self}, {},
         [scale, shape = kept.impl().sizes, full = self.impl().sizes](Node&, const Tensor& grad) {
           const Tensor scaled = scale == 1 ? grad : grad * scale;
           return Tensors{scaled.reshape(shape).expand(full)};
         });
  return out;
}

}  // namespace

Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
           std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(sum, self, dim, keepdim, dtype);
  return sum_or_mean(ReduceOp::sum, "SumBackward1", self, dim, keepdim, dtype);
}
Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(sum, self, dtype);
  return sum_or_mean(ReduceOp::sum, "SumBackward0", self, {}, false, dtype);
}
Tensor mean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
            std::optional<ScalarType> dtype) {
  return sum_or_mean(ReduceOp::mean, "MeanBackward1", self, dim, keepdim, dtype);
}
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) {
  return sum_or_mean(ReduceOp::mean, "MeanBackward0", self, {}, false, dtype);
}

Tensor nansum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
              std::optional<ScalarType> dtype) {
  check<TypeError>(!self.is_complex(), "nansum: not implemented for '", TypeName{self.dtype()},
                   "'; compute with real() and imag()");
  if (!self.is_floating_point()) return sum(self, dim, keepdim, dtype);
  if (!isFloatingType(dtype.value_or(kFloat)))  // which has no NaN
    return sum(where(self == self, self, 0), dim, keepdim, dtype);
  const DimMask mask = dim_mask("nansum", dim, self);
  const Tensor out = drop(raw::reduce(ReduceOp::nansum, self, dim, dtype), mask, keepdim);
  if (recording(self))
    record("NansumBackward0", out, {self}, {self},
           [shape = kept_sizes(self, mask)](Node& n, const Tensor& grad) -> Tensors {
             const Tensor x = n.saved(0);
             return {where(x == x, grad.reshape(shape), 0)};
           });
  return out;
}

Tensor nanmean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  raw::check_floating("nanmean", self);
  const Tensor count = (self == self).sum(dim, keepdim);
  const ScalarType type = dtype.value_or(self.scalar_type());
  if (!isFloatingType(type)) return nansum(self, dim, keepdim, dtype) / count;
  return (nansum(self, dim, keepdim, computed_type(type)) / count).to(type);
}

Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  const size_t rank = self.operand("sum_to_size").sizes().size();
  check(size.size() <= rank, "sum_to_size: size ", size, " has more dimensions than ",
        self.sizes());
  const size_t lead = rank - size.size();
  Dims reduced;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t want = d < lead ? 1 : size[d - lead];
    check(d < lead || want == 1 || want == self.sizes()[d], "sum_to_size: shape ", self.sizes(),
          " does not reduce to ", size, ": dimension ", d, " of size ", self.sizes()[d],
          " can stay or become 1");
    if (d < lead || (want == 1 && self.sizes()[d] != 1)) reduced.push_back(static_cast<int64_t>(d));
  }
  const Tensor summed = reduced.empty() ? self : sum(self, reduced, /*keepdim=*/true);
  return lead ? summed.reshape(size) : summed;
}

namespace {

// The product of the elements along dim but each one itself: of those before it and those behind
// it. No division, which would fail at zeros.
Tensor product_of_others(const Tensor& x, int64_t dim) {
  if (x.numel() == 0) return x;
  const auto before = [dim](const Tensor& list) {
    const int64_t n = list.size(dim);
    const Tensor first = ones_like(list.narrow(dim, 0, 1));
    return cat({first, list.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  };
  return before(x) * before(x.flip(dim)).flip(dim);
}

Tensor record_product(const char* node, const Tensor& out, const Tensor& self, int64_t dim,
                      const Dims& kept) {
  if (recording(self) && is_differentiable(out.dtype()))
    record(node, out, {self}, {self}, [dim, kept](Node& n, const Tensor& grad) -> Tensors {
      const Tensor x = as_computed(n.saved(0));
      // x without dimensions is a list of one.
      const Tensor others = product_of_others(x.dim() ? x : x.reshape({1}), dim);
      return {(others.reshape(x.sizes()) * grad.reshape(kept)).to(grad.dtype())};
    });
  return out;
}

// The product along dim, which keeps size 1, as a tree of products.
Tensor product_by_halves(const Tensor& x, int64_t dim) {
  const int64_t n = x.size(dim), half = n / 2;
  if (n == 0) return ones_like(x.sum(dim, true));
  if (n == 1) return x;
  const Tensor pairs = x.narrow(dim, 0, half) * x.narrow(dim, half, half);
  return product_by_halves(n % 2 ? cat({pairs, x.narrow(dim, n - 1, 1)}, dim) : pairs, dim);
}

}  // namespace

Tensor prod(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(prod, self, dim, keepdim, dtype);
  const DimMask mask = mask_of("prod", dim, self);
  const Tensor x = dtype ? self.to(*dtype) : self;
  if (x.is_complex()) {
    if (x.dim() == 0) return x.clone();
    const Tensor kept = product_by_halves(x, wrap_dim("prod", dim, x));
    return keepdim ? kept : kept.squeeze(dim);
  }
  return record_product("ProdBackward1",
                        drop(raw::reduce(ReduceOp::prod, x, dim, dtype), mask, keepdim), x,
                        wrap_dim("prod", dim, self), kept_sizes(self, mask));
}

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(prod, self, dtype);
  const Tensor list = (dtype ? self.to(*dtype) : self).reshape({-1});
  if (list.is_complex()) return product_by_halves(list, 0).reshape({});
  return record_product("ProdBackward0", drop(raw::reduce(ReduceOp::prod, list, 0, dtype), {true}),
                        list, 0, {1});
}

}  // namespace gradus
