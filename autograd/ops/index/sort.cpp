// sort, argsort, msort, topk and kthvalue, with their gradients.
#include "gradus/autograd/ops/reduce.h"

namespace gradus {

namespace {

TensorPair sorted(const char* node, const Tensor& self, int64_t dim, bool descending) {
  const auto [values, indices] = raw::sort(self, dim, descending);
  record_selection(node, values, self, dim, indices);
  return {values, indices};
}

}  // namespace

TensorPair sort(const Tensor& self, int64_t dim, bool descending) {
  return sorted("SortBackward0", self, dim, descending);
}
TensorPair sort(const Tensor& self, std::optional<bool>, int64_t dim, bool descending) {
  return sorted("SortBackward1", self, dim, descending);
}
Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return raw::sort(self, dim, descending).indices;
}
Tensor argsort(const Tensor& self, bool, int64_t dim, bool descending) {
  return raw::sort(self, dim, descending).indices;
}
Tensor msort(const Tensor& self) { return std::get<0>(sort(self, 0)); }

TensorPair topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  raw::check_number("topk", self);
  const int64_t d = wrap_dim("topk", dim, self);
  const int64_t size = self.dim() ? self.size(d) : 1;
  check(k >= 0 && k <= size, "topk: selected index k out of range: ", k, " for dimension ", d,
        " of shape ", self.sizes(), "; expected 0 <= k <= ", size, ", give a smaller k");
  const auto [values, indices] = raw::select("topk", self, d, largest, 0, k);
  record_selection("TopkBackward0", values, self, d, indices);
  return {values, indices};
}

TensorPair kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  raw::check_number("kthvalue", self);
  const int64_t d = wrap_dim("kthvalue", dim, self);
  const int64_t size = self.dim() ? self.size(d) : 1;
  raw::check_reducible("kthvalue", self, d);
  check(k >= 1 && k <= size, "kthvalue: k is ", k, ", expected 1 <= k <= ", size,
        ", the size of dimension ", d, "; choose another k or dim");
  const auto [value, indices] = raw::select("kthvalue", self, d, false, k - 1, 1);
  const DimMask mask = mask_of("kthvalue", d, self);
  const Tensor values = drop(value, mask, keepdim);
  record_selection("KthvalueBackward0", values, self, d, indices);
  return {values, drop(indices, mask, keepdim)};
}

}  // namespace gradus
