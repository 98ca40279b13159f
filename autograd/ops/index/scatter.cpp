// gather, scatter, scatter_add along one dimension, with their gradients; one_hot.
#include "gradus/autograd/ops/index/scatter.h"

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

Tensor gathered(const char* op, const char* node_name, const Tensor& self, int64_t dim,
                const Tensor& index) {
  Tensor out = raw::gather(self, dim, index, op);
  if (recording(self))
    record(node_name, out, {self}, {index},
           [dim, sizes = self.impl().sizes](Node& n, const Tensor& grad) {
             return Tensors{zeros(sizes, grad.options()).scatter_add_(dim, n.saved(0), grad)};
           });
  return out;
}

namespace {
bool is_recorded(const Tensor& self, const Operand& src) {
  return src.is_number() ? recording(self) : recording(self, *src.tensor);
}
}  // namespace

Tensor part_under(const Tensor& index, const Tensor& src) {
  Tensor part =
      src.dim() == 0 ? src.reshape({1}) : src;  // beside an index of one dimension, or none
  for (int64_t d = 0; d < index.dim(); ++d)
    if (index.sizes()[d] != part.sizes()[d]) part = part.narrow(d, 0, index.sizes()[d]);
  return index.dim() == 0 ? part.narrow(0, 0, 1).reshape({}) : part;
}

namespace {
// grad at the places where src was set; 0 for what was overwritten by a later element.
Tensor of_set(const char* op, const Tensor& grad, int64_t dim, const Tensor& places) {
  const Tensor numbers = arange(places.numel(), places.options()).view(places.sizes());
  const Tensor last = zeros(grad.sizes(), numbers.options());
  raw::scatter_(op, ScatterOp::set, last, dim, places, numbers);
  return where(raw::gather(last, dim, places, op) == numbers, grad.gather(dim, places), 0);
}
}  // namespace

Tensor Scattering::operator()(const Tensor& self, int64_t dim, const Tensor& index,
                              const Operand& src) const {
  Tensor out = raw::clone(self);
  raw::scatter_(op, how, out, dim, index, src);
  if (!is_recorded(self, src)) return out;
  const Tensor part =
      !src.is_number() && index.numel() > 0 ? part_under(index, *src.tensor) : Tensor();
  record(node_name, out, {self, part}, {index},
         [dim, op = op, adds = how == ScatterOp::sum, all = how == ScatterOp::sum || distinct](
             Node& n, const Tensor& grad) {
           const Tensor places = n.saved(0);
           Tensors grads(2);
           if (n.wants(0)) grads[0] = adds ? grad : grad.scatter(dim, places, 0);
           if (n.wants(1))
             grads[1] = all ? grad.gather(dim, places) : of_set(op, grad, dim, places);
           return grads;
         });
  return out;
}

Tensor& Scattering::update(const Tensor& self, int64_t dim, const Tensor& index,
                           const Operand& src) const {
  return in_place(
      op, self, is_recorded(self, src),
      [&](Tensor& x) { raw::scatter_(op, how, x, dim, index, src); },
      [&](const Tensor& x) { return (*this)(x, dim, index, src); });
}

namespace {

constexpr Scattering kScatter{"scatter", "ScatterBackward0", ScatterOp::set};
constexpr Scattering kScatterAdd{"scatter_add", "ScatterAddBackward0", ScatterOp::sum};

// The word of scatter as one of scatter_reduce.
std::string_view reduction(std::string_view word) {
  check(word == "add" || word == "multiply", "scatter: reduce is \"", word,
        "\", expected add or multiply; scatter_reduce has others");
  return word == "add" ? "sum" : "prod";
}

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/) {
  return gathered("gather", "GatherBackward0", self, dim, index);
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return kScatter(self, dim, index, src);
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Tensor& src) const {
  return kScatter.update(*this, dim, index, src);
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return kScatter(self, dim, index, value);
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Scalar& value) const {
  return kScatter.update(*this, dim, index, value);
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
               std::string_view reduce) {
  return self.scatter_reduce(dim, index, src, reduction(reduce));
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce) const {
  return scatter_reduce_(dim, index, src, reduction(reduce));
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
               std::string_view reduce) {
  return scatter(self, dim, index, full({}, value, self.options()).expand(index.sizes()), reduce);
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Scalar& value,
                         std::string_view reduce) const {
  return scatter_(dim, index, full({}, value, options()).expand(index.sizes()), reduce);
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  GRADUS_AUTOCAST(scatter_add, self, dim, index, src);
  return kScatterAdd(self, dim, index, src);
}
Tensor& Tensor::scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const {
  return kScatterAdd.update(*this, dim, index, src);
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  self.operand("one_hot");
  check<TypeError>(self.dtype() == kLong, "one_hot: target has dtype ", self.dtype(),
                   ", expected int64; convert with .to(kLong)");
  check(num_classes >= -1, "one_hot: num_classes is ", num_classes,
        "; give the number of classes, or -1 to count them");
  check(self.numel() > 0 || num_classes > 0,
        "one_hot: num_classes cannot be inferred from an empty target; give it");
  // A GPU that knows their number reports a wrong one at a later wait.
  if (self.numel() > 0 && (num_classes == -1 || self.is_cpu())) {
    const int64_t low = self.min().item<int64_t>(), high = self.max().item<int64_t>();
    if (num_classes == -1) num_classes = high + 1;
    check<IndexError>(low >= 0 && high < num_classes, "one_hot: target ", low < 0 ? low : high,
                      " is out of range for ", num_classes, " classes; expected 0 <= target < ",
                      num_classes, ", raise num_classes or mend the target");
  }
  Dims sizes = self.impl().sizes;
  sizes.push_back(num_classes);
  const Tensor out = zeros(sizes, self.options()), index = self.unsqueeze(-1);
  raw::scatter_("one_hot", ScatterOp::set, out, -1, index, Scalar(1));
  return out;
}

}  // namespace gradus
