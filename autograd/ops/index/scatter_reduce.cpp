// scatter_reduce: sums, products, means and extremes of what meets at a place, with their
// gradients.
#include <cmath>
#include <limits>

#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/ops/index/scatter.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/raw/scatter_touched.h"

namespace gradus {

namespace {

// The words of scatter_reduce: how the backend puts, and what changes nothing.
struct Word {
  ScatterOp how;
  bool mean = false;
};
Word parse(const char* op, std::string_view reduce) {
  if (reduce == "sum") return {ScatterOp::sum};
  if (reduce == "mean") return {ScatterOp::sum, true};
  if (reduce == "prod") return {ScatterOp::prod};
  if (reduce == "amax") return {ScatterOp::amax};
  check(reduce == "amin", op, ": reduce is \"", reduce,
        "\", expected sum, prod, mean, amax or amin; give one of these words");
  return {ScatterOp::amin};
}

// The number that a reduction of a dtype starts from.
Scalar neutral(ScatterOp how, ScalarType dtype) {
  if (how == ScatterOp::sum) return 0;
  if (how == ScatterOp::prod) return 1;
  const bool least = how == ScatterOp::amax;
  if (isFloatingType(dtype)) return least ? -HUGE_VAL : HUGE_VAL;
  return visit(dtype, [&]<class T>(TypeTag<T>) -> Scalar {
    if constexpr (std::is_integral_v<T>)
      return least ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    return {};
  });
}

// Equal extremes get equal shares.
Tensors extreme_backward(const Tensor& grad, int64_t dim, const Tensor& index, const Tensor& self,
                         const Tensor& src, const Tensor& out) {
  const Tensor self_is_it = self == out, src_is_it = src == out.gather(dim, index);
  const Tensor count = self_is_it.to(kLong).scatter_add(dim, index, src_is_it.to(kLong));
  const Tensor share = grad.to(computed_type(grad.dtype())) / count;
  const auto given = [&](const Tensor& is_it, const Tensor& each) {
    return (is_it * each).to(grad.dtype());
  };
  return {given(self_is_it, share), given(src_is_it, share.gather(dim, index))};
}

// The product of the others, which is out / itself unless that divides by 0.
Tensors product_backward(const Tensor& grad, int64_t dim, const Tensor& index, const Tensor& self,
                         const Tensor& src) {
  // Counts the zeros of a place, and leaves them out of its product.
  const Tensor self_zero = self == 0, src_zero = src == 0;
  const Tensor zeros_there = self_zero.to(kLong).scatter_add(dim, index, src_zero.to(kLong));
  const Tensor self_factor = self.masked_fill(self_zero, 1);
  const Tensor src_factor = src.masked_fill(src_zero, 1);
  const Tensor product = self_factor.scatter_reduce(dim, index, src_factor, "prod");
  // Nothing is left of the others where a zero is among them.
  const auto others = [&](const Tensor& all, const Tensor& factor, const Tensor& is_zero,
                          const Tensor& count) {
    return where(count - is_zero.to(kLong) == 0, all / factor, 0);
  };
  return {grad * others(product, self_factor, self_zero, zeros_there),
          grad.gather(dim, index) * others(product.gather(dim, index), src_factor, src_zero,
                                           zeros_there.gather(dim, index))};
}

// prod, amax and amin of self and src.
Tensor reduced(const char* op, ScatterOp how, const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& src) {
  Tensor out = raw::clone(self);
  raw::scatter_(op, how, out, dim, index, src);
  if (!recording(self, src) || index.numel() == 0) return index.numel() ? out : self.clone();
  const Tensor part = part_under(index, src);
  record("ScatterReduceBackward0", out, {self, part}, {index, self, part, out},
         [dim, how](Node& n, const Tensor& grad) {
           return how == ScatterOp::prod
                      ? product_backward(grad, dim, n.saved(0), n.saved(1), n.saved(2))
                      : extreme_backward(grad, dim, n.saved(0), n.saved(1), n.saved(2), n.saved(3));
         });
  return out;
}

}  // namespace

Tensor scatter_reduced(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& src, std::string_view reduce, bool include_self) {
  const Word word = parse(op, reduce);
  Tensor start = self;
  if (!include_self)
    start = Scattering{op, "ScatterBackward0", ScatterOp::set}(self, dim, index,
                                                               neutral(word.how, self.dtype()));
  if (word.how != ScatterOp::sum) return reduced(op, word.how, start, dim, index, src);
  const Scattering scattering{op, "ScatterReduceBackward0", ScatterOp::sum};
  if (!word.mean) return scattering(start, dim, index, src);
  // Neither the sum nor the count need fit into the dtype of their quotient.
  const ScalarType dtype = self.dtype(), wide = computed_type(dtype);
  check<TypeError>(src.dtype() == dtype, op, ": src has dtype ", src.dtype(), ", self has ", dtype,
                   "; convert one with .to(...)");
  const Tensor sum = scattering(start.to(wide), dim, index, src.to(wide));
  Tensor count = ones_like(self, kLong);
  if (!include_self) count.scatter_(dim, index, 0);
  count.scatter_add_(dim, index, ones({}, count.options()).expand(index.sizes()));
  return (isFloatingType(dtype) ? sum / count : sum.floor_divide(count)).to(dtype);
}

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  return scatter_reduced("scatter_reduce", self, dim, index, src, reduce, include_self);
}
namespace {
// Whether the index fits, and names few elements. Where it does not fit, scatter_ says why.
bool changes_few(const Tensor& x, int64_t dim, const Tensor& index) {
  if (x.dim() == 0 || index.dim() != x.dim() || index.dtype() != kLong ||
      index.device() != x.device() || index.numel() == 0)
    return false;
  const int64_t d = wrap_dim("scatter_reduce", dim, x);
  for (int64_t i = 0; i < x.dim(); ++i)
    if (i != d && index.sizes()[i] > x.sizes()[i]) return false;
  return raw::touches_few(x, index.sizes());
}
}  // namespace

Tensor& scatter_reduced_(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& src, std::string_view reduce, bool include_self) {
  const auto f = [&](const Tensor& x) {
    return scatter_reduced(op, x, dim, index, src, reduce, include_self);
  };
  const auto direct = [&](const Tensor& x) {
    const Word word = parse(op, reduce);
    if (include_self && !word.mean) return raw::scatter_(op, word.how, x, dim, index, src);
    if (!changes_few(x, dim, index)) return raw::copy_(x, f(x));
    const int64_t d = wrap_dim(op, dim, x);
    raw::change_touched({op, d, x.size(d)}, x, d, raw::apart(index, x),
                        [&](const Tensor& copy, const Tensor& places) {
                          return scatter_reduced(op, copy, d, places, src, reduce, include_self);
                        });
  };
  return in_place(op, self, recording(self, src), direct, f);
}
Tensor& Tensor::scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& src,
                                std::string_view reduce, bool include_self) const {
  return scatter_reduced_("scatter_reduce", *this, dim, index, src, reduce, include_self);
}

}  // namespace gradus
