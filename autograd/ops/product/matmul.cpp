// matmul, mm, bmm, mv, dot, vdot and linear, with their gradients.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/ops/product/named_matmul.h"

#include "gradus/autograd/engine/any_dtype.h"
#include "gradus/autograd/engine/graph_task.h"
#include "gradus/autograd/engine/pieces.h"
#include "gradus/autograd/engine/record.h"

namespace gradus {

namespace {

using raw::ProductNames;

Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }

// raw::matmul(a, b, names); first(grad, b) and second(grad, a) are the gradients of a and b.
template <class First, class Second>
Tensor product(const char* node, const Tensor& a, const Tensor& b, const ProductNames& names,
               First first, Second second) {
  Tensor out = raw::matmul(a, b, names);
  if (recording(a, b))
    record(node, out, {a, b}, {if_used(b.requires_grad(), a), if_used(a.requires_grad(), b)},
           [first, second](Node& n, const Tensor& grad) {
             Tensors grads(2);
             if (n.wants(0)) grads[0] = first(grad, conj(n.saved(1)));
             if (n.wants(1)) grads[1] = second(grad, conj(n.saved(0)));
             return grads;
           });
  return out;
}

// Operands with at least two dimensions. The engine sums a gradient over broadcast batches.
Tensor matrices(const char* node, const Tensor& a, const Tensor& b, const ProductNames& names) {
  return product(
      node, a, b, names,
      [](const Tensor& grad, const Tensor& right) { return grad.matmul(transposed(right)); },
      [](const Tensor& grad, const Tensor& left) { return transposed(left).matmul(grad); });
}

Tensor matrix_by_vector(const Tensor& a, const Tensor& b, const ProductNames& names) {
  return product(
      "MvBackward0", a, b, names,
      [](const Tensor& grad, const Tensor& right) { return grad.outer(right); },
      [](const Tensor& grad, const Tensor& left) { return left.t().mv(grad); });
}

Tensor vectors(const Tensor& a, const Tensor& b, const ProductNames& names) {
  const auto scaled = [](const Tensor& grad, const Tensor& other) { return grad * other; };
  return product("DotBackward0", a, b, names, scaled, scaled);
}

Tensor dot_named(const Tensor& a, const Tensor& b, const ProductNames& names) {
  raw::check_ranks(names, a, 1, b, 1);
  return vectors(a, b, names);
}

}  // namespace

Tensor autograd::matmul(const Tensor& self, const Tensor& other, const ProductNames& names) {
  GRADUS_AUTOCAST_AS(matmul, autograd::matmul, self, other, names);
  const int64_t a = self.dim(), b = other.dim();
  if (!recording(self, other)) return raw::matmul(self, other, names);
  raw::check_factors(names, self, other);
  if (a == 1 && b == 1) return vectors(self, other, names);
  if (a == 2 && b == 1) return matrix_by_vector(self, other, names);
  if (a == 1) return autograd::matmul(self.unsqueeze(0), other, names).squeeze(-2);
  if (b == 1) return autograd::matmul(self, other.unsqueeze(1), names).squeeze(-1);
  // One matrix for a whole batch: the batch is rows of one product, and so is its gradient.
  if (a > 2 && b == 2) {
    Dims shape = self.impl().sizes;
    shape[shape.size() - 1] = other.size(1);
    int64_t rows = 1;
    for (int64_t d = 0; d + 1 < a; ++d) rows *= self.sizes()[d];
    return matrices("MmBackward0", self.reshape({rows, self.size(-1)}), other, names)
        .reshape(shape);
  }
  return matrices(a == 2 && b == 2 ? "MmBackward0" : "BmmBackward0", self, other, names);
}

Tensor matmul(const Tensor& self, const Tensor& other) { return autograd::matmul(self, other, {}); }

Tensor mm(const Tensor& self, const Tensor& mat2) {
  GRADUS_AUTOCAST(mm, self, mat2);
  constexpr ProductNames names{"mm", "self", "mat2"};
  raw::check_ranks(names, self, 2, mat2, 2);
  return matrices("MmBackward0", self, mat2, names);
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  GRADUS_AUTOCAST(bmm, self, mat2);
  constexpr ProductNames names{"bmm", "self", "mat2"};
  raw::check_ranks(names, self, 3, mat2, 3);
  return matrices("BmmBackward0", self, mat2, names);
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  GRADUS_AUTOCAST(mv, self, vec);
  constexpr ProductNames names{"mv", "self", "vec"};
  raw::check_ranks(names, self, 2, vec, 1);
  return matrix_by_vector(self, vec, names);
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  GRADUS_AUTOCAST(dot, self, tensor);
  return dot_named(self, tensor, {"dot", "self", "tensor"});
}

Tensor vdot(const Tensor& self, const Tensor& other) {
  GRADUS_AUTOCAST(vdot, self, other);
  return dot_named(conj(self.operand("vdot")), other, {"vdot", "self", "other"});
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  GRADUS_AUTOCAST(linear, input, weight, bias);
  if (weight.operand("linear", "weight").dim() == 1) {  // one output, which has no dimension
    const Tensor out = linear(input, weight.unsqueeze(0)).squeeze(-1);
    return bias.defined() ? out + bias : out;
  }
  Tensor out = raw::linear(input, weight, bias);
  if (recording(input, weight, bias))
    record_saying<AddsBias>(
        bias.defined() ? "AddmmBackward0" : "MmBackward0", out, {input, weight, bias},
        {if_used(weight.requires_grad(), input), if_used(input.requires_grad(), weight)},
        [](Node& n, const Tensor& grad) {
          Tensors grads(3);
          // All leading dimensions are rows.
          const auto rows = [](const Tensor& x) {
            return x.dim() == 2 ? x
                                : x.reshape({numel_of(x.sizes().slice(0, x.sizes().size() - 1)),
                                             x.size(-1)});
          };
          // The node that computed the gradient may have added up its columns, too.
          const Tensor sums = n.wants(2) ? autograd::sums_of(n, 2, grad) : Tensor();
          // The weight's first: its pieces travel beside the input's gradient.
          if (n.wants(1) && (GradMode::is_enabled() || grad.is_complex()))
            grads[1] = rows(grad).t().matmul(rows(conj(n.saved(0))));
          else if (n.wants(1))
            std::tie(grads[1], grads[2]) = autograd::product_in_pieces(
                n, 1, rows(grad).t(), rows(n.saved(0)), n.wants(2) && !sums.defined());
          if (sums.defined())
            grads[2] = sums;
          else if (n.wants(2) && !grads[2].defined())
            grads[2] = rows(grad).sum(0);
          if (n.wants(0)) grads[0] = grad.matmul(conj(n.saved(1)));
          return grads;
        });
  return out;
}

}  // namespace gradus
