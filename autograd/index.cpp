#include "gradus/autograd/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw.h"

namespace gradus {

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor out = raw::gather(self, dim, index);
  if (recording(self))
    record("GatherBackward0", out, {self}, {index},
           [dim, sizes = self.impl().sizes](Node& n, const Tensor& grad) {
             return TensorList{zeros(sizes, grad.options()).scatter_add(dim, n.saved(0), grad)};
           });
  return out;
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = raw::scatter_add(self, dim, index, src);
  if (!recording(self, src)) return out;
  // Only the part of src under the index takes part.
  Tensor part = src;
  for (int64_t d = 0; d < index.dim(); ++d)
    if (index.sizes()[d] != src.sizes()[d]) part = part.narrow(d, 0, index.sizes()[d]);
  record("ScatterAddBackward0", out, {self, part}, {index}, [dim](Node& n, const Tensor& grad) {
    TensorList grads(2);
    if (n.wants(0)) grads[0] = grad;
    if (n.wants(1)) grads[1] = grad.gather(dim, n.saved(0));
    return grads;
  });
  return out;
}

}  // namespace gradus
