// quantile and nanquantile, interpolated between sorted elements.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

void check_quantile(const char* op, const Tensor& self, const Tensor& q) {
  self.operand(op);
  check<TypeError>(self.is_floating_point(), op, ": self has dtype ", self.dtype(),
                   ", expected a floating point type; convert with .to(kFloat)");
  check(self.numel() > 0, op, ": self of shape ", self.sizes(),
        " has no elements; give it at least one");
  check(q.dim() <= 1, op, ": q has shape ", q.sizes(), ", expected a number or one dimension");
  check<TypeError>(q.dtype() == self.dtype() || q.dtype() == computed_type(self.dtype()), op,
                   ": q has dtype ", q.dtype(), ", self has ", self.dtype(),
                   "; convert one with .to(...)");
  check<Error>(q.device() == self.device(), op, ": q is on ", q.device(), ", self on ",
               self.device(), "; move one with .to(...)");
  // Waits for a GPU: q is small, and a wrong one would give a wrong place.
  check(logical_and(q >= 0, q <= 1).all().item<bool>(), op, ": q has a value outside of [0, 1]");
}

// Interpolates between elements of sorted lists. Lists and `places` lie along the last dimension.
Tensor interpolated(const char* op, const Tensor& sorted, const Tensor& places,
                    std::string_view interpolation) {
  const auto at = [&](const Tensor& place) { return sorted.gather(-1, place.to(kLong)); };
  if (interpolation == "lower") return at(places.floor());
  if (interpolation == "higher") return at(places.ceil());
  if (interpolation == "nearest") return at(places.round());
  check(interpolation == "linear" || interpolation == "midpoint", op, ": interpolation is \"",
        interpolation, "\"; expected linear, lower, higher, midpoint or nearest");
  const Tensor below = at(places.floor()), above = at(places.ceil());
  if (interpolation == "midpoint") return below + (above - below) * 0.5;
  return below + (above - below) * (places - places.detach().floor());
}

Tensor quantiles(const char* op, const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                 bool keepdim, std::string_view interpolation, bool ignores_nan) {
  check_quantile(op, self, q);
  // A half type cannot count the elements.
  if (const ScalarType wide = computed_type(self.dtype()); wide != self.dtype())
    return quantiles(op, self.to(wide), q.to(wide), dim, keepdim, interpolation, ignores_nan)
        .to(self.dtype());
  const int64_t d = dim ? wrap_dim(op, *dim, self) : 0;
  const bool of_all = !dim || self.dim() == 0;
  // Lists along the last dimension; d stays as size 1.
  const Tensor lists = of_all ? self.reshape({-1}) : self.unsqueeze(-1).transpose(d, -1);
  const Tensor is_number = lists == lists;
  const Tensor numbers = is_number.sum(-1, true);
  const int64_t n = lists.size(-1);
  // NaN stands behind all numbers.
  const Tensor places = ignores_nan ? q * where(numbers == 0, 0, numbers - 1)
                                    : where(numbers == n, q * (n - 1), n - 1);
  Dims shape = lists.impl().sizes;
  shape[shape.size() - 1] = q.numel();
  const Tensor found =
      interpolated(op, std::get<0>(sort(lists)), places.expand(shape), interpolation);

  // (..., q) -> (q, ...), without the dimension of q where that is a number.
  Dims order, sizes;
  if (q.dim() == 1) sizes.push_back(q.numel());
  order.push_back(found.dim() - 1);
  for (int64_t i = 0; i + 1 < found.dim(); ++i) {
    order.push_back(i);
    if (keepdim || i != d) sizes.push_back(found.sizes()[i]);
  }
  if (of_all && keepdim)
    for (int64_t i = 0; i < self.dim(); ++i) sizes.push_back(1);
  return found.permute(order).reshape(sizes);
}

Tensor as_tensor(const char* op, double q, const Tensor& self) {
  check(q >= 0 && q <= 1, op, ": q is ", q, ", expected a number in [0, 1]");
  return full({}, q, self.options().dtype(computed_type(self.dtype())));
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  GRADUS_AUTOCAST(quantile, self, q, dim, keepdim, interpolation);
  return quantiles("quantile", self, q, dim, keepdim, interpolation, false);
}
Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  GRADUS_AUTOCAST(quantile, self, q, dim, keepdim, interpolation);
  return quantile(self, as_tensor("quantile", q, self), dim, keepdim, interpolation);
}
Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  GRADUS_AUTOCAST(nanquantile, self, q, dim, keepdim, interpolation);
  return quantiles("nanquantile", self, q, dim, keepdim, interpolation, true);
}
Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  GRADUS_AUTOCAST(nanquantile, self, q, dim, keepdim, interpolation);
  return nanquantile(self, as_tensor("nanquantile", q, self), dim, keepdim, interpolation);
}

}  // namespace gradus
