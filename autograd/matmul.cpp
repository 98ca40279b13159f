// Products of vectors, matrices and batches of matrices.
#include "gradus/autograd/graph_task.h"
#include "gradus/autograd/pieces.h"
#include "gradus/autograd/record.h"
#include "gradus/tensor/raw.h"

namespace gradus {

namespace {

Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }

// raw::matmul(a, b); first(grad, b) and second(grad, a) are the gradients of a and b.
template <class First, class Second>
Tensor product(const char* node, const Tensor& a, const Tensor& b, First first, Second second) {
  Tensor out = raw::matmul(a, b);
  if (recording(a, b))
    record(node, out, {a, b}, {if_used(b.requires_grad(), a), if_used(a.requires_grad(), b)},
           [first, second](Node& n, const Tensor& grad) {
             Tensors grads(2);
             if (n.wants(0)) grads[0] = first(grad, n.saved(1));
             if (n.wants(1)) grads[1] = second(grad, n.saved(0));
             return grads;
           });
  return out;
}

// Operands with at least two dimensions. The engine sums a gradient over broadcast batches.
Tensor matrices(const char* node, const Tensor& a, const Tensor& b) {
  return product(
      node, a, b,
      [](const Tensor& grad, const Tensor& right) { return grad.matmul(transposed(right)); },
      [](const Tensor& grad, const Tensor& left) { return transposed(left).matmul(grad); });
}

void check_rank(const char* op, const Tensor& x, const char* name, int64_t rank) {
  check(x.dim() == rank, op, ": ", name, " has shape ", x.sizes(), ", expected ", rank,
        rank == 1 ? " dimension" : " dimensions", "; use matmul for other ranks");
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  if (!recording(self, other)) return raw::matmul(self, other);
  if (a == 0 || b == 0) return raw::matmul(self, other);  // reports it
  if (a == 1 && b == 1) return dot(self, other);
  if (a == 2 && b == 1) return mv(self, other);
  if (a == 1) return matmul(self.unsqueeze(0), other).squeeze(-2);
  if (b == 1) return matmul(self, other.unsqueeze(1)).squeeze(-1);
  // One matrix for a whole batch: the batch is rows of one product, and so is its gradient.
  if (a > 2 && b == 2 && self.size(-1) == other.size(0)) {
    Dims shape = self.impl().sizes;
    shape[shape.size() - 1] = other.size(1);
    int64_t rows = 1;
    for (int64_t d = 0; d + 1 < a; ++d) rows *= self.sizes()[d];
    return matrices("MmBackward0", self.reshape({rows, self.size(-1)}), other).reshape(shape);
  }
  return matrices(a == 2 && b == 2 ? "MmBackward0" : "BmmBackward0", self, other);
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_rank("mm", self, "self", 2);
  check_rank("mm", mat2, "mat2", 2);
  return matrices("MmBackward0", self, mat2);
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  check_rank("bmm", self, "self", 3);
  check_rank("bmm", mat2, "mat2", 3);
  check(self.size(0) == mat2.size(0), "bmm: self has ", self.size(0), " matrices, mat2 ",
        mat2.size(0), "; expected as many; use matmul to broadcast");
  return matrices("BmmBackward0", self, mat2);
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  check_rank("mv", self, "self", 2);
  check_rank("mv", vec, "vec", 1);
  return product(
      "MvBackward0", self, vec,
      [](const Tensor& grad, const Tensor& right) { return grad.outer(right); },
      [](const Tensor& grad, const Tensor& left) { return left.t().mv(grad); });
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  check_rank("dot", self, "self", 1);
  check_rank("dot", tensor, "tensor", 1);
  const auto scaled = [](const Tensor& grad, const Tensor& other) { return grad * other; };
  return product("DotBackward0", self, tensor, scaled, scaled);
}

namespace {

Tensor weight_gradient(const Node& node, const Tensor& grad, const Tensor& input) {
  if (GradMode::is_enabled()) return grad.t().matmul(input);
  return autograd::product_in_pieces(
      raw::transpose(grad, 0, 1), input,
      [&](const Tensor& out, int64_t end) { autograd::rows_ready(node, 1, out, end); });
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  Tensor out = raw::linear(input, weight, bias);
  if (recording(input, weight, bias))
    record(bias.defined() ? "AddmmBackward0" : "MmBackward0", out, {input, weight, bias},
           {if_used(weight.requires_grad(), input), if_used(input.requires_grad(), weight)},
           [](Node& n, const Tensor& grad) {
             Tensors grads(3);
             // All leading dimensions are rows.
             const auto rows = [](const Tensor& x) {
               return x.dim() == 2 ? x
                                   : x.reshape({numel_of(x.sizes().slice(0, x.sizes().size() - 1)),
                                                x.size(-1)});
             };
             // The weight's last: its pieces travel beside the nodes to come.
             if (n.wants(0)) grads[0] = grad.matmul(n.saved(1));
             if (n.wants(2)) grads[2] = rows(grad).sum(0);
             if (n.wants(1)) grads[1] = weight_gradient(n, rows(grad), rows(n.saved(0)));
             return grads;
           });
  return out;
}

}  // namespace gradus
