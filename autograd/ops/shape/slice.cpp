// slice, narrow, unfold, select_scatter and slice_scatter, with their gradients.
#include "gradus/autograd/ops/embed.h"
#include "gradus/tensor/base/checked.h"

namespace gradus {

namespace {
// The stride times the step. Where the product does not fit, there is one element, or none.
int64_t stepped(int64_t stride, int64_t step) {
  const Checked out = Checked(stride) * step;
  return out.fits() ? out.get("slice", "a stride") : stride;
}
}  // namespace

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  check<IndexError>(self.dim() > 0, "slice: the tensor has no dimensions; unsqueeze it first");
  check(step > 0, "slice: step is ", step,
        ", step must be greater than zero; flip() the result for a reversed one");
  const int64_t d = wrap_dim("slice", dim, self), size = self.sizes()[d];
  const auto clamped = [size](int64_t at, int64_t low) {
    return std::clamp(at < 0 ? at + size : at, low, size);
  };
  const int64_t from = clamped(start.value_or(0), 0);
  const int64_t length = clamped(end.value_or(size), from) - from;
  Dims sizes = self.impl().sizes, strides = self.impl().strides;
  sizes[d] = length / step + (length % step != 0);
  strides[d] = stepped(strides[d], step);
  return record_view(
      "SliceBackward0", self,
      raw::as_strided(self, sizes, strides, self.storage_offset() + from * self.strides()[d]),
      [=](const Tensor& x) { return x.slice(d, start, end, step); });
}

Tensor narrow(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  check(start.dim() == 0 && isIntegralType(start.dtype()), "narrow: start has shape ",
        start.sizes(), " and dtype ", start.dtype(),
        ", expected an integer tensor without dimensions");
  return self.narrow(dim, start.item<int64_t>(), length);
}

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return self.narrow(dim, start, length).clone();
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  check(size >= 0, "unfold: size is ", size, ", expected at least 0");
  check(step > 0, "unfold: step is ", step, ", expected a positive number");
  const int64_t d = wrap_dim("unfold", dimension, self);
  const int64_t extent = self.dim() ? self.sizes()[d] : 1;
  check(size <= extent, "unfold: size ", size, " exceeds dimension ", d, " of size ", extent,
        "; give at most that");
  Dims sizes = self.impl().sizes, strides = self.impl().strides;
  const int64_t stride = self.dim() ? strides[d] : 1;
  if (self.dim()) sizes[d] = (extent - size) / step + 1, strides[d] = stepped(stride, step);
  sizes.push_back(size), strides.push_back(stride);
  checked_numel("unfold", sizes);
  Tensor out = raw::as_strided(self, sizes, strides, self.storage_offset());
  if (recording(self))
    record("UnfoldBackward0", out, {self}, {},
           [=, shape = self.impl().sizes](Node&, const Tensor& grad) -> Tensors {
             if (shape.empty()) return {grad.sum(-1)};
             // Windows share elements: each element gathers what it is worth in all of them.
             const Tensor places = arange(extent, TensorOptions(kLong).device(grad.device()))
                                       .unfold(0, size, step)
                                       .reshape({-1});
             Dims order;
             for (int64_t i = 0; i < grad.dim() - 1; ++i) {
               order.push_back(i);
               if (i == d) order.push_back(grad.dim() - 1);
             }
             return {zeros(shape, grad.options())
                         .index_add(d, places, grad.permute(order).flatten(d, d + 1))};
           });
  return out;
}

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  return replaced("select_scatter", "SelectScatterBackward0", self, src,
                  [=](const Tensor& x) { return x.select(dim, index); });
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim,
                     std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  return replaced("slice_scatter", "SliceScatterBackward0", self, src,
                  [=](const Tensor& x) { return x.slice(dim, start, end, step); });
}

}  // namespace gradus
