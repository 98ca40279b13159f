// as_strided, as_strided_scatter and the gradient of any view by its geometry.
#include "gradus/autograd/engine/as_strided.h"

#include <algorithm>

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// One past the last element, counted from the start of the storage; the largest int64 where it is
// more than that.
int64_t end_of(const Geometry& g) {
  int64_t end;
  if (__builtin_add_overflow(g.offset, 1, &end)) return INT64_MAX;
  for (size_t d = 0; d < g.sizes.size(); ++d) {
    int64_t span;
    if (g.sizes[d] == 0) return g.offset;
    if (__builtin_mul_overflow(g.sizes[d] - 1, g.strides[d], &span) ||
        __builtin_add_overflow(end, span, &end))
      return INT64_MAX;
  }
  return end;
}

// Whether two indices may mean one element: exact but for strides that no dense tensor has.
bool may_overlap(const Geometry& g) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t d = 0; d < g.sizes.size(); ++d)
    if (g.sizes[d] > 1) dims.emplace_back(g.strides[d], g.sizes[d]);
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;  // of all smaller strides together
  for (auto [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

Tensor at(const Tensor& flat, const Geometry& g, int64_t start) {
  return flat.as_strided(g.sizes, g.strides, g.offset - start);
}

// The adjoint of reading `out` from a tensor of geometry `in`. Both see one piece of memory. The
// gradient is summed there at the elements that several indices of `out` mean. It is shared among
// the indices of `in` that mean one element.
Tensor as_strided_backward(const Tensor& grad, const Geometry& in, const Geometry& out) {
  const int64_t start = std::min(in.offset, out.offset);
  const int64_t length = std::max(end_of(in), end_of(out)) - start;
  Tensor flat = zeros({length}, grad.options());
  const auto positions = [&](const Geometry& g) {
    return at(arange(length, grad.options().dtype(kLong)), g, start).reshape({-1});
  };
  if (may_overlap(out)) {
    flat = flat.scatter_add(0, positions(out), grad.reshape({-1}));
  } else {
    at(flat, out, start).copy_(grad);
  }
  if (numel_of(in.sizes) > 0 && may_overlap(in)) {
    const Tensor places = positions(in);
    const Tensor counts = zeros({length}, grad.options())
                              .scatter_add(0, places, ones(places.sizes(), grad.options()));
    flat = flat / counts.maximum(1);
  }
  return at(flat, in, start);
}

auto backward_of(const Geometry& in, const Geometry& out) {
  return
      [in, out](Node&, const Tensor& grad) { return Tensors{as_strided_backward(grad, in, out)}; };
}

constexpr const char* kNode = "AsStridedBackward0";

}  // namespace

Geometry geometry_of(const Tensor& x) {
  return {x.impl().sizes, x.impl().strides, x.storage_offset()};
}

Geometry geometry_beside(const Tensor& other, const Tensor& x) {
  if (!x.is_complex() || other.is_complex()) return geometry_of(x);
  return geometry_of(raw::view_as_real(x));
}
Tensor in_geometry(const Tensor& grad, const Geometry& geometry) {
  return grad.dim() == static_cast<int64_t>(geometry.sizes.size()) ? grad : view_as_real(grad);
}
Tensor from_geometry(const Tensor& parts, bool is_complex) {
  return is_complex && !parts.is_complex() ? view_as_complex(parts.contiguous()) : parts;
}

Tensor laid_out(const Tensor& x, const Geometry& like) {
  if (like.strides.size() == 0 || is_contiguous(like.sizes, like.strides))
    return x.clone(MemoryFormat::Contiguous);
  const int64_t start = like.offset;
  Tensor flat = zeros({end_of(like) - start}, x.options());
  at(flat, like, start).copy_(x);
  return at(flat, like, start);
}

std::shared_ptr<Node> as_strided_node(const Tensor& base, const Tensor& view) {
  auto backward = [in = geometry_beside(view, base), out = geometry_beside(base, view),
                   is_complex = base.is_complex()](Node&, const Tensor& grad) {
    return Tensors{from_geometry(as_strided_backward(in_geometry(grad, out), in, out), is_complex)};
  };
  auto node = make_node<LambdaNode<decltype(backward)>>(kNode, std::move(backward));
  node->add_next_edge(gradient_edge(base));
  node->add_input_metadata(view);
  return node;
}

Geometry checked_geometry(const char* op, const Tensor& x, IntArrayRef size, IntArrayRef stride,
                          int64_t storage_offset) {
  check(size.size() == stride.size(), op, ": size ", size, " and stride ", stride,
        " differ in length; give one stride for each size");
  const Geometry out{Dims(size.data(), size.size()), Dims(stride.data(), stride.size()),
                     storage_offset};
  for (size_t d = 0; d < size.size(); ++d)
    check(size[d] >= 0 && stride[d] >= 0, op, ": size ", size, " or stride ", stride,
          " has a negative entry; give numbers of at least 0");
  check(out.offset >= 0, op, ": storage_offset ", out.offset,
        " is negative; count it from the beginning of the storage");
  const int64_t available = static_cast<int64_t>(x.impl().storage->nbytes() / x.element_size());
  const int64_t needed = end_of(out);
  check(checked_numel(op, size) == 0 || needed <= available, op, ": size ", size, ", stride ",
        stride, " and storage_offset ", out.offset, " need a storage of ", needed,
        " elements, and that of the tensor has ", available);
  return out;
}

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  std::optional<int64_t> storage_offset) {
  const Geometry out = checked_geometry("as_strided", self, size, stride,
                                        storage_offset.value_or(self.storage_offset()));
  Tensor result = raw::as_strided(self, out.sizes, out.strides, out.offset);
  if (recording(self)) record(kNode, result, {self}, {}, backward_of(geometry_of(self), out));
  return result;
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                          IntArrayRef stride, std::optional<int64_t> storage_offset) {
  raw::check_same_device("as_strided_scatter", self, "self", src, "src");
  check(src.sizes() == size, "as_strided_scatter: src has shape ", src.sizes(),
        ", and the part that it replaces ", size);
  const Geometry in = geometry_of(self);
  if (may_overlap(in))
    return as_strided_scatter(self.clone(MemoryFormat::Contiguous), src, size, stride,
                              storage_offset);
  const Geometry part = geometry_of(self.detach().as_strided(size, stride, storage_offset));
  // Both in one piece of memory, as in as_strided_backward.
  const int64_t start = std::min(in.offset, part.offset);
  const int64_t length = std::max(end_of(in), end_of(part)) - start;
  const Tensor flat = zeros({length}, self.options());
  at(flat, in, start).copy_(self);
  at(flat, part, start).copy_(src);
  return at(flat, in, start).clone();
}

}  // namespace gradus
