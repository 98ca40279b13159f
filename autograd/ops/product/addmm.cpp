// addmm, addmv, addr, addbmm and baddbmm: beta * self + alpha * product. Where beta is 0, self is
// not read: it may hold NaN.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

struct Sum {
  const char *op, *node;
  const Tensor& self;
  const Scalar &beta, &alpha;
};

bool is_one(const Scalar& x) { return x.toComplexDouble() == 1.0; }
bool is_zero(const Scalar& x) { return x.toComplexDouble() == 0.0; }
Scalar conjugate(const Scalar& x) { return x.isComplex() ? std::conj(x.toComplexDouble()) : x; }
Tensor scaled(const Tensor& x, const Scalar& by) { return is_one(by) ? x : x * by; }

// `shape` and `floating`: of the product.
void check_sum(const Sum& sum, IntArrayRef shape, bool floating) {
  const auto& [op, node, self, beta, alpha] = sum;
  check<TypeError>(floating || !(beta.isFloatingPoint() || alpha.isFloatingPoint()), op,
                   ": beta and alpha must be integers for integer operands; convert those with "
                   ".to(kFloat)");
  broadcast_strides(op, self.sizes(), self.strides(), shape);
}
void check_sum(const Sum& sum, IntArrayRef shape, const Tensor& factor) {
  check_sum(sum, shape, is_differentiable(factor.dtype()));
  raw::check_same_device(sum.op, sum.self, "self", factor, "the first factor");
  check<TypeError>(sum.self.dtype() == factor.dtype(), sum.op, ": self has dtype ",
                   sum.self.dtype(), ", the factors have ", factor.dtype(),
                   "; convert one with .to(...)");
}

// The value for factors that fit, rounded once.
Tensor evaluate(const Sum& sum, const Tensor& a, const Tensor& b, IntArrayRef shape) {
  check_sum(sum, shape, a);
  const auto& [op, node, self, beta, alpha] = sum;
  const auto wide = [](const Tensor& x) { return raw::to(x, computed_type(x.dtype())); };
  Tensor out = raw::empty(shape, computed_type(a.dtype()), a.device());
  const auto matrix = [&](const Tensor& x) { return b.dim() == 1 ? raw::unsqueeze(x, 1) : x; };
  raw::matmul_into(a, matrix(b), matrix(out), Tensor());
  if (!is_one(alpha)) raw::zip_(BinaryOp::mul, out, alpha);
  if (is_one(beta))
    raw::zip_(BinaryOp::add, out, wide(self));
  else if (!is_zero(beta))
    raw::zip_(BinaryOp::add, out, raw::zip(BinaryOp::mul, wide(self), beta));
  return raw::to(out, self.dtype());
}

// first(grad, b) and second(grad, a): the gradients of the factors for alpha == 1.
template <class First, class Second>
Tensor record_sum(const Sum& sum, const Tensor& out, const Tensor& a, const Tensor& b, First first,
                  Second second) {
  if (recording(sum.self, a, b))
    record(
        sum.node, out, {sum.self, a, b},
        {if_used(b.requires_grad(), a), if_used(a.requires_grad(), b)},
        [=, beta = conjugate(sum.beta), alpha = conjugate(sum.alpha)](Node& n, const Tensor& grad) {
          Tensors grads(3);
          if (n.wants(0)) grads[0] = scaled(grad, beta);
          if (n.wants(1)) grads[1] = scaled(first(grad, conj(n.saved(1))), alpha);
          if (n.wants(2)) grads[2] = scaled(second(grad, conj(n.saved(0))), alpha);
          return grads;
        });
  return out;
}

Tensor record_matrices(const Sum& sum, const Tensor& out, const Tensor& a, const Tensor& b) {
  return record_sum(
      sum, out, a, b,
      [](const Tensor& grad, const Tensor& right) { return grad.matmul(right.transpose(-2, -1)); },
      [](const Tensor& grad, const Tensor& left) { return left.transpose(-2, -1).matmul(grad); });
}

void check_factors(const raw::ProductNames& names, const Tensor& a, int64_t a_rank, const Tensor& b,
                   int64_t b_rank) {
  raw::check_ranks(names, a, a_rank, b, b_rank);
  raw::check_factors(names, a, b);
}

Tensor add_product(const Sum& sum, const Tensor& mat1, const Tensor& mat2) {
  const Dims shape{mat1.size(0), mat2.size(1)};
  // A row for all rows is the bias that the product adds by itself.
  const bool is_bias =
      is_one(sum.beta) && is_one(sum.alpha) && sum.self.dim() == 1 && sum.self.size(0) == shape[1];
  if (is_bias) check_sum(sum, shape, mat1);
  const Tensor out = is_bias ? raw::linear(mat1, raw::transpose(mat2, 0, 1), sum.self)
                             : evaluate(sum, mat1, mat2, shape);
  return record_matrices(sum, out, mat1, mat2);
}

}  // namespace

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  GRADUS_AUTOCAST(addmm, self, mat1, mat2, beta, alpha);
  check_factors({"addmm", "mat1", "mat2"}, mat1, 2, mat2, 2);
  return add_product({"addmm", "AddmmBackward0", self, beta, alpha}, mat1, mat2);
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  GRADUS_AUTOCAST(baddbmm, self, batch1, batch2, beta, alpha);
  check_factors({"baddbmm", "batch1", "batch2"}, batch1, 3, batch2, 3);
  const Sum sum{"baddbmm", "BaddbmmBackward0", self, beta, alpha};
  const Dims shape{batch1.size(0), batch1.size(1), batch2.size(2)};
  return record_matrices(sum, evaluate(sum, batch1, batch2, shape), batch1, batch2);
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
             const Scalar& alpha) {
  GRADUS_AUTOCAST(addmv, self, mat, vec, beta, alpha);
  check_factors({"addmv", "mat", "vec"}, mat, 2, vec, 1);
  const Sum sum{"addmv", "AddmvBackward0", self, beta, alpha};
  return record_sum(
      sum, evaluate(sum, mat, vec, {mat.size(0)}), mat, vec,
      [](const Tensor& grad, const Tensor& right) { return grad.outer(right); },
      [](const Tensor& grad, const Tensor& left) { return left.t().mv(grad); });
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
  GRADUS_AUTOCAST(addbmm, self, batch1, batch2, beta, alpha);
  check_factors({"addbmm", "batch1", "batch2"}, batch1, 3, batch2, 3);
  // The sum of the products is one product with a longer inner dimension.
  const int64_t n = batch1.size(1), inner = batch1.size(0) * batch1.size(2), p = batch2.size(2);
  return add_product({"addbmm", "AddmmBackward0", self, beta, alpha},
                     batch1.transpose(0, 1).reshape({n, inner}), batch2.reshape({inner, p}));
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
            const Scalar& alpha) {
  GRADUS_AUTOCAST(addr, self, vec1, vec2, beta, alpha);
  check(vec1.dim() == 1 && vec2.dim() == 1, "addr: vec1 has shape ", vec1.sizes(), ", vec2 has ",
        vec2.sizes(), "; expected 1 dimension each; use flatten()");
  const Tensor product = outer(vec1, vec2);
  check_sum({"addr", "AddrBackward0", self, beta, alpha}, product.sizes(),
            is_differentiable(self.dtype()) || is_differentiable(product.dtype()));
  if (is_zero(beta)) return scaled(product, alpha).to(promoteTypes(self.dtype(), product.dtype()));
  return scaled(self, beta) + scaled(product, alpha);
}

}  // namespace gradus
