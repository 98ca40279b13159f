// The common part of slice and diagonal: a view of part of a tensor, and its adjoint. `view` is a
// function from a tensor to that part of it, which records itself.
#pragma once

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

// Zeros of these sizes, with x in the part that `view` selects.
template <class View>
Tensor embed(const Tensor& x, const Dims& sizes, View view) {
  Tensor out = zeros(sizes, x.options());
  raw::copy_(view(out), x);
  if (recording(x))
    record("EmbedBackward0", out, {x}, {},
           [view](Node&, const Tensor& grad) { return Tensors{view(grad)}; });
  return out;
}

// Records that `out`, which shares self's memory, is view(self).
template <class View>
Tensor record_view(const char* node, const Tensor& self, Tensor out, View view) {
  if (recording(self))
    record(node, out, {self}, {}, [view, sizes = self.impl().sizes](Node&, const Tensor& grad) {
      return Tensors{embed(grad, sizes, view)};
    });
  return out;
}

// A copy of self in which src replaces view(self).
template <class View>
Tensor replaced(const char* op, const char* node, const Tensor& self, const Tensor& src,
                View view) {
  Tensor out = raw::clone(self.operand(op));
  const Tensor part = view(out);
  check(part.sizes() == src.operand(op, "src").sizes(), op, ": src has shape ", src.sizes(),
        ", and the part that it replaces ", part.sizes());
  raw::check_same_device(op, self, "self", src, "src");
  raw::copy_(part, src);
  if (recording(self, src))
    record(node, out, {self, src}, {}, [=, sizes = src.impl().sizes](Node& n, const Tensor& grad) {
      Tensors grads(2);
      if (n.wants(0)) grads[0] = replaced(op, node, grad, zeros(sizes, grad.options()), view);
      if (n.wants(1)) grads[1] = view(grad);
      return grads;
    });
  return out;
}

}  // namespace gradus
