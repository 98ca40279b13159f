// movedim, swapdims, unflatten, meshgrid, broadcast_to: views composed of those of view.cpp.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

// Bytes have no gradients, so the view belongs to no graph.
Tensor Tensor::view_dtype(ScalarType dtype) const {
  const Tensor out = raw::view(*this, dtype);
  return requires_grad() ? raw::alias(out) : out;
}

Tensor ravel(const Tensor& self) { return self.contiguous().view({-1}); }

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  check(!sizes.empty(), "unflatten: sizes is empty; give one or more");
  check<IndexError>(self.dim() > 0, "unflatten: self has no dimensions; use reshape()");
  const int64_t d = wrap_dim("unflatten", dim, self);
  const Dims inner = infer_size("unflatten", sizes, self.sizes()[d]);
  Dims shape = self.impl().sizes;
  shape.erase(d);
  for (size_t i = inner.size(); i-- > 0;) shape.insert(d, inner[i]);
  return self.view(shape);
}

Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  return self.transpose(axis0, axis1);
}
Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose(dim0, dim1);
}

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  check(source.size() == destination.size(), "movedim: source ", source, " and destination ",
        destination, " differ in length; give one place for each dimension");
  if (source.empty()) return self.view_as(self);
  const auto moved = dim_mask("movedim", source, self);
  const auto taken = dim_mask("movedim", destination, self);
  Dims order = Dims::filled(self.dim(), 0);
  for (size_t i = 0; i < source.size() && self.dim() > 0; ++i)
    order[wrap_dim("movedim", destination[i], self)] = wrap_dim("movedim", source[i], self);
  size_t next = 0;  // of the dimensions that stay
  for (size_t place = 0; place < order.size(); ++place) {
    if (taken[place]) continue;
    while (moved[next]) ++next;
    order[place] = static_cast<int64_t>(next++);
  }
  return self.permute(order);
}
Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  return movedim(self, IntArrayRef(source), IntArrayRef(destination));
}
Tensor moveaxis(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  return movedim(self, source, destination);
}
Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) {
  return movedim(self, source, destination);
}

Tensor numpy_T(const Tensor& self) {
  Dims order;
  for (int64_t d = self.dim(); d-- > 0;) order.push_back(d);
  return self.permute(order);
}

Tensor mT(const Tensor& self) {
  if (self.dim() == 0) return self.view_as(self);
  check(self.operand("mT").dim() >= 2, "mT: self has shape ", self.sizes(),
        ", expected a matrix or a batch of matrices; use numpy_T() for other shapes");
  return self.transpose(-2, -1);
}
Tensor mH(const Tensor& self) { return conj(mT(self)); }
Tensor adjoint(const Tensor& self) { return conj(mT(self)); }
Tensor matrix_H(const Tensor& self) {
  check(self.operand("matrix_H").dim() == 0 || self.dim() == 2, "matrix_H: self has shape ",
        self.sizes(), ", expected a matrix; use mH() for a batch of them");
  return mH(self);
}

Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return self.expand(size); }

Tensors broadcast_tensors(ArrayRef<Tensor> tensors) {
  Dims shape;
  for (const Tensor& x : tensors)
    shape = broadcast_shapes("broadcast_tensors", shape,
                             x.operand("broadcast_tensors", "one of the tensors").sizes());
  Tensors out;
  for (const Tensor& x : tensors) out.push_back(x.expand(shape));
  return out;
}

Tensors meshgrid(ArrayRef<Tensor> tensors, std::string_view indexing) {
  check(!tensors.empty(), "meshgrid: the list of tensors is empty; give one or more");
  check(indexing == "ij" || indexing == "xy", "meshgrid: indexing \"", indexing,
        "\", expected \"ij\" or \"xy\"");
  Dims shape;
  for (const Tensor& x : tensors) {
    check(x.operand("meshgrid", "one of the tensors").dim() <= 1, "meshgrid: a tensor has shape ",
          x.sizes(), ", expected vectors");
    check<TypeError>(x.dtype() == tensors[0].dtype(), "meshgrid: tensors have dtypes ",
                     tensors[0].dtype(), " and ", x.dtype(), "; expected one dtype");
    check<Error>(x.device() == tensors[0].device(), "meshgrid: tensors are on ",
                 tensors[0].device(), " and ", x.device(), "; expected one device");
    shape.push_back(x.numel());
  }
  Tensors out;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Dims own = Dims::filled(static_cast<int64_t>(tensors.size()), 1);
    own[i] = tensors[i].numel();
    out.push_back(tensors[i].view(own).expand(shape));
  }
  if (indexing == "xy" && out.size() >= 2)
    for (Tensor& grid : out) grid = grid.transpose(0, 1);
  return out;
}
Tensors meshgrid(ArrayRef<Tensor> tensors) { return meshgrid(tensors, "ij"); }

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? self.reshape({1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  const Tensor row = atleast_1d(self);
  return row.dim() == 1 ? row.unsqueeze(0) : row;
}
Tensor atleast_3d(const Tensor& self) {
  const Tensor matrix = atleast_2d(self);
  return matrix.dim() == 2 ? matrix.unsqueeze(-1) : matrix;
}

namespace {
Tensors each(ArrayRef<Tensor> tensors, Tensor (*f)(const Tensor&)) {
  Tensors out;
  for (const Tensor& x : tensors) out.push_back(f(x));
  return out;
}
}  // namespace

Tensors atleast_1d(ArrayRef<Tensor> tensors) { return each(tensors, atleast_1d); }
Tensors atleast_2d(ArrayRef<Tensor> tensors) { return each(tensors, atleast_2d); }
Tensors atleast_3d(ArrayRef<Tensor> tensors) { return each(tensors, atleast_3d); }

}  // namespace gradus
