// scatter and gather of tensors over devices.
#include "gradus/nn/parallel/scatter_gather.h"

#include "gradus/autograd/functions.h"

namespace gradus::nn::parallel {

Tensors scatter(const Tensor& x, const std::vector<Device>& devices, int64_t dim) {
  check(x.dim() > 0,
        "scatter: a tensor without dimensions cannot be shared out; pass a number, or expand it to "
        "one value for each row");
  Tensors parts = x.chunk(static_cast<int64_t>(devices.size()), dim);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].to(devices[i]);
  return parts;
}

Tensor gather(ArrayRef<Tensor> parts, Device device, int64_t dim) {
  const Tensor& first = parts[0];
  const bool scalars = first.dim() == 0;
  const int64_t along = scalars ? 0 : wrap_dim("gather", dim, first.dim());
  Tensors moved;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = parts[i];
    check<TypeError>(part.dtype() == first.dtype(), "gather: replica ", i, " returned ",
                     part.dtype(), ", replica 0 ", first.dtype(),
                     "; convert the result to one dtype in forward");
    bool fits = part.dim() == first.dim();
    for (int64_t d = 0; fits && d < first.dim(); ++d)
      fits = d == along || part.size(d) == first.size(d);
    check(fits, "gather: replica ", i, " returned shape ", part.sizes(), ", replica 0 ",
          first.sizes(), "; they may differ in dimension ", along,
          " alone, give DataParallel the dim of the batch");
    moved.push_back((scalars ? part.unsqueeze(0) : part).to(device));
  }
  return cat(moved, along);
}

}  // namespace gradus::nn::parallel
