#include "gradus/tensor/raw.h"

namespace gradus::raw {

namespace {
// index may be smaller than x in every dimension but dim, where it may have any size.
int64_t check_index(const char* op, const Tensor& x, int64_t dim, const Tensor& index) {
  check_same_device(op, x, "self", index, "index");
  check<TypeError>(index.dtype() == kLong, op, ": index has dtype ", index.dtype(),
                   ", expected int64; convert with .to(kLong)");
  check(index.dim() == x.dim(), op, ": index has ", index.dim(), " dimensions, self ", x.dim(),
        "; expected the same number");
  const int64_t d = wrap_dim(op, dim, x.dim());
  for (int64_t i = 0; i < x.dim(); ++i)
    check(i == d || index.sizes()[i] <= x.sizes()[i], op, ": index of shape ", index.sizes(),
          " is larger than self of shape ", x.sizes(), " at dimension ", i);
  return d;
}
Tensor lifted(const Tensor& x) { return x.dim() == 0 ? raw::unsqueeze(x, 0) : x; }
}  // namespace

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  const int64_t d = check_index("gather", x, dim, index);
  Tensor out = empty(index.sizes(), x.dtype(), x.device());
  if (out.numel() > 0) backend(out).gather(lifted(x), d, lifted(index), lifted(out));
  return out;
}

Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src) {
  const int64_t d = check_index("scatter_add", x, dim, index);
  check_same_device("scatter_add", x, "self", src, "src");
  check<TypeError>(src.dtype() == x.dtype(), "scatter_add: src has dtype ", src.dtype(),
                   ", self has ", x.dtype(), "; convert one with .to(...)");
  check<TypeError>(x.dtype() != kBool, "scatter_add: dtype bool cannot be added");
  check(src.dim() == index.dim(), "scatter_add: src has shape ", src.sizes(), ", index ",
        index.sizes(), "; expected the same number of dimensions");
  Tensor part = src;
  for (int64_t i = 0; i < index.dim(); ++i) {
    check(index.sizes()[i] <= src.sizes()[i], "scatter_add: index of shape ", index.sizes(),
          " is larger than src of shape ", src.sizes(), " at dimension ", i);
    part = raw::narrow(part, i, 0, index.sizes()[i]);
  }
  // Summed in the type of numbers, and rounded once.
  const ScalarType compute = computed_type(x.dtype());
  Tensor out = x.dtype() == compute ? raw::clone(x) : to(x, compute);
  if (index.numel() > 0)
    backend(out).scatter_add(d, lifted(index), lifted(to(part, compute)), lifted(out));
  return to(out, x.dtype());
}

}  // namespace gradus::raw
