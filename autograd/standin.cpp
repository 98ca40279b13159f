#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
namespace gradus {
Tensor cat(ArrayRef<Tensor> tensors, int64_t dim) {
  ScalarType t = tensors[0].dtype();
  int64_t total = 0;
  for (const Tensor& x : tensors) total += x.size(dim), t = promoteTypes(t, x.dtype());
  Dims sizes = tensors[0].impl().sizes;
  sizes[wrap_dim("cat", dim, tensors[0].dim())] = total;
  Tensor out = zeros(sizes, tensors[0].options().dtype(t).requires_grad(false));
  int64_t at = 0;
  for (const Tensor& x : tensors) out = out.slice_scatter(x.to(t), dim, at, at + x.size(dim)), at += x.size(dim);
  return out;
}
Tensor stack(ArrayRef<Tensor> tensors, int64_t dim) {
  TensorList l;
  for (const Tensor& x : tensors) l.push_back(x.unsqueeze(dim));
  return cat(l, dim);
}
Tensor roll(const Tensor& x, IntArrayRef by, IntArrayRef d) {
  const int64_t n = x.size(d[0]), s = ((by[0] % n) + n) % n;
  return cat({x.narrow(d[0], n - s, s), x.narrow(d[0], 0, n - s)}, d[0]);
}
Tensor flip(const Tensor& x, IntArrayRef d) {
  const int64_t n = x.size(d[0]);
  return x.index_select(d[0], (n - 1) - arange(n, x.options().dtype(kLong).requires_grad(false)));
}
}
