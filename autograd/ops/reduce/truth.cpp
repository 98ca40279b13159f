// any and all: whether some or all elements differ from 0.
#include "gradus/autograd/ops/reduce.h"

namespace gradus {

namespace {

Tensor answer(const Tensor& self, const Tensor& of_count) {
  return self.dtype() == kByte ? of_count.to(kByte) : of_count;
}
// The largest or the smallest of the truths; for none of them the neutral one. An empty `dim` gives
// each truth itself.
Tensor extreme(const char* name, ReduceOp op, const Tensor& self, OptionalIntArrayRef dim,
               bool keepdim) {
  const DimMask mask = dim_mask(name, dim, self);
  if (dim.has_value() && dim.value().empty()) return answer(self, self != 0);
  const Tensor truths = raw::takes_beside(Function::reduce, self).mixed ? self : truth(self);
  const Tensor kept = self.numel() > 0 ? raw::reduce(op, truths, dim, kBool)
                                       : full(kept_sizes(self, mask), op == ReduceOp::amin,
                                              self.options().dtype(kBool));
  return answer(self, drop(kept, mask, keepdim));
}
Tensor any_of(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return extreme("any", ReduceOp::amax, self, dim, keepdim);
}
Tensor all_of(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return extreme("all", ReduceOp::amin, self, dim, keepdim);
}

}  // namespace

Tensor any(const Tensor& self) { return any_of(self, std::nullopt, false); }
Tensor any(const Tensor& self, int64_t dim, bool keepdim) { return any_of(self, dim, keepdim); }
Tensor any(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return any_of(self, dim, keepdim);
}
Tensor all(const Tensor& self) { return all_of(self, std::nullopt, false); }
Tensor all(const Tensor& self, int64_t dim, bool keepdim) { return all_of(self, dim, keepdim); }
Tensor all(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return all_of(self, dim, keepdim);
}

}  // namespace gradus
