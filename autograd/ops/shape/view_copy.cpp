// view_copy, permute_copy and the like: copies of what the views of the same names give.
#include "gradus/autograd/functions.h"

namespace gradus {

namespace {
Tensors copied(Tensors views) {
  for (Tensor& view : views) view = view.clone();
  return views;
}
}  // namespace

Tensor alias_copy(const Tensor& self) { return self.alias().clone(); }
Tensor as_strided_copy(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                       std::optional<int64_t> storage_offset) {
  return self.as_strided(size, stride, storage_offset).clone();
}
Tensor detach_copy(const Tensor& self) { return self.detach().clone(); }
Tensor diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return self.diagonal(offset, dim1, dim2).clone();
}
Tensor expand_copy(const Tensor& self, IntArrayRef size, bool implicit) {
  return self.expand(size, implicit).clone();
}
Tensor permute_copy(const Tensor& self, IntArrayRef dims) { return self.permute(dims).clone(); }
Tensor select_copy(const Tensor& self, int64_t dim, int64_t index) {
  return self.select(dim, index).clone();
}
Tensor slice_copy(const Tensor& self, int64_t dim, std::optional<int64_t> start,
                  std::optional<int64_t> end, int64_t step) {
  return self.slice(dim, start, end, step).clone();
}
Tensor squeeze_copy(const Tensor& self) { return self.squeeze().clone(); }
Tensor squeeze_copy(const Tensor& self, int64_t dim) { return self.squeeze(dim).clone(); }
Tensor squeeze_copy(const Tensor& self, IntArrayRef dim) { return self.squeeze(dim).clone(); }
Tensor t_copy(const Tensor& self) { return self.t().clone(); }
Tensor transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose(dim0, dim1).clone();
}
Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return self.unfold(dimension, size, step).clone();
}
Tensor unsqueeze_copy(const Tensor& self, int64_t dim) { return self.unsqueeze(dim).clone(); }
Tensor view_copy(const Tensor& self, IntArrayRef size) { return self.view(size).clone(); }

Tensors split_copy(const Tensor& self, int64_t split_size, int64_t dim) {
  return copied(self.split(split_size, dim));
}
Tensors split_with_sizes_copy(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return copied(self.split_with_sizes(split_sizes, dim));
}
Tensors unbind_copy(const Tensor& self, int64_t dim) { return copied(self.unbind(dim)); }

}  // namespace gradus
