// tensordot, outer, inner, kron, bilinear and matrix_power, composed of the products of matmul.cpp.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/product/named_matmul.h"
#include "gradus/tensor/base/called.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// The dimensions of x that are not listed, then those that are, or the other way round.
Dims order(const char* op, const Tensor& x, const Dims& listed, bool listed_first) {
  const auto mask = listed.empty() ? std::array<bool, kMaxDims>{} : dim_mask(op, listed, x);
  Dims others;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (!mask[static_cast<size_t>(d)]) others.push_back(d);
  Dims first = listed_first ? listed : others;
  for (int64_t d : listed_first ? others : listed) first.push_back(d);
  return first;
}

int64_t free_size(const Tensor& x, const Dims& order, size_t begin, size_t end, Dims& shape) {
  int64_t size = 1;
  for (size_t i = begin; i < end; ++i) {
    shape.push_back(x.sizes()[order[i]]);
    size *= shape.back();
  }
  return size;
}

// tensordot, whose errors say `names`.
Tensor contract(const raw::ProductNames& names, const Tensor& self, const Tensor& other,
                IntArrayRef dims_self, IntArrayRef dims_other) {
  const char* op = names.op;
  Tensor a = self, b = other;
  Dims from_a, from_b;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t p = sized_dim(op, dims_self[i], self.operand(op).dim());
    const int64_t q = sized_dim(op, dims_other[i], other.operand(op, "other").dim());
    const int64_t m = self.size(p), n = other.size(q);
    check(m == n || m == 1 || n == 1, op, ": dimension ", p, " of self has size ", m,
          ", dimension ", q, " of other has ", n, "; expected the same; list other dimensions");
    // A size of 1 stands for all: what lies along it is summed first.
    if (n == 1 && m != 1) a = a.sum(p, true, a.dtype());
    if (m == 1 && n != 1) b = b.sum(q, true, b.dtype());
    from_a.push_back(p), from_b.push_back(q);
  }
  const Dims order_a = order(op, a, from_a, false), order_b = order(op, b, from_b, true);
  const size_t contracted = from_a.size(), kept_a = order_a.size() - contracted;
  Dims shape, ignored;
  const int64_t rows = free_size(a, order_a, 0, kept_a, shape);
  const int64_t columns = free_size(b, order_b, contracted, order_b.size(), shape);
  const int64_t inner = free_size(a, order_a, kept_a, order_a.size(), ignored);
  return autograd::matmul(a.permute(order_a).reshape({rows, inner}),
                          b.permute(order_b).reshape({inner, columns}), names)
      .reshape(shape);
}

Tensor outer_named(const char* op, const Tensor& self, const Tensor& vec2) {
  check(self.operand(op).dim() == 1 && vec2.operand(op, "vec2").dim() == 1, op, ": self has shape ",
        self.sizes(), ", vec2 ", vec2.sizes(), "; expected 1 dimension each; use flatten()");
  raw::check_same_device(op, self, "self", vec2, "vec2");
  return self.unsqueeze(1) * vec2;
}

}  // namespace

Tensor outer(const Tensor& self, const Tensor& vec2) { return outer_named("outer", self, vec2); }
Tensor ger(const Tensor& self, const Tensor& vec2) { return outer_named("ger", self, vec2); }

Tensor inner(const Tensor& self, const Tensor& other) {
  GRADUS_AUTOCAST(inner, self, other);
  if (self.dim() == 0 || other.dim() == 0) return self * other;
  self.operand("inner"), other.operand("inner", "other");
  check(self.size(-1) == other.size(-1), "inner: the last dimensions of self ", self.sizes(),
        " and other ", other.sizes(), " differ; expected equal ones");
  return contract({"inner", "self", "other"}, self, other, IntArrayRef(-1), IntArrayRef(-1));
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                 IntArrayRef dims_other) {
  GRADUS_AUTOCAST(tensordot, self, other, dims_self, dims_other);
  check(dims_self.size() == dims_other.size(), "tensordot: dims_self ", dims_self,
        " and dims_other ", dims_other, " list different numbers of dimensions; expected as many");
  return contract({"tensordot", "self", "other"}, self, other, dims_self, dims_other);
}

Tensor kron(const Tensor& self, const Tensor& other) {
  // Dimensions 2d and 2d + 1 of both are the d-th ones, between which 1s make them broadcast.
  const int64_t rank = std::max(self.dim(), other.dim());
  Dims left = Dims::filled(2 * rank, 1), right = left, shape = Dims::filled(rank, 1);
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t at = rank - self.dim() + d;
    left[2 * at] = self.sizes()[d], shape[at] *= self.sizes()[d];
  }
  for (int64_t d = 0; d < other.dim(); ++d) {
    const int64_t at = rank - other.dim() + d;
    right[2 * at + 1] = other.sizes()[d], shape[at] *= other.sizes()[d];
  }
  return (self.reshape(left) * other.reshape(right)).reshape(shape);
}

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  const Called op("linalg.matrix_power");
  check(self.operand(op).dim() >= 2 && self.size(-1) == self.size(-2), op, ": self has shape ",
        self.sizes(), "; expected square matrices; cut it by narrow()");
  if (n < 0) {
    check(n != INT64_MIN, op, ": n is ", n, ", whose negative is no int64; expected more");
    return linalg_matrix_power(linalg_inv(self), -n);
  }
  if (n == 0) return eye(self.size(-1), self.options()).expand(self.sizes()).clone();
  // Repeated squaring: the power is the product of the squares that n's binary digits name.
  const raw::ProductNames names{op, "self", "self"};
  Tensor result, square = self;
  for (;;) {
    if (n & 1) result = result.defined() ? autograd::matmul(result, square, names) : square;
    if ((n >>= 1) == 0) return result.is_same(self) ? self.clone() : result;
    square = autograd::matmul(square, square, names);
  }
}
Tensor matrix_power(const Tensor& self, int64_t n) {
  const Called op("matrix_power");
  return linalg_matrix_power(self, n);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  GRADUS_AUTOCAST(bilinear, input1, input2, weight, bias);
  check(weight.operand("bilinear", "weight").dim() == 3, "bilinear: weight has shape ",
        weight.sizes(), "; expected (out_features, in1_features, in2_features)");
  check(input1.operand("bilinear", "input1").dim() > 0 &&
            input1.dim() == input2.operand("bilinear", "input2").dim() &&
            input1.sizes().slice(0, input1.sizes().size() - 1) ==
                input2.sizes().slice(0, input2.sizes().size() - 1),
        "bilinear: input1 ", input1.sizes(), " and input2 ", input2.sizes(),
        " differ before the last dimension; expand one of them");
  check(input1.size(-1) == weight.size(1) && input2.size(-1) == weight.size(2),
        "bilinear: the last dimensions of input1 ", input1.sizes(), " and input2 ", input2.sizes(),
        " do not fit weight ", weight.sizes(),
        "; expected (out_features, in1_features, in2_features); exchange the inputs?");
  // out[..., o] = sum of input1[..., i] weight[o, i, j] input2[..., j]
  const int64_t rows = numel_of(input1.sizes().slice(0, input1.sizes().size() - 1));
  const Tensor x = input1.reshape({rows, weight.size(1)}),
               y = input2.reshape({rows, weight.size(2)});
  const Tensor left = contract({"bilinear", "input1", "weight"}, x, weight, IntArrayRef(1),
                               IntArrayRef(1));  // rows, o, j
  Dims shape = input1.impl().sizes;
  shape[shape.size() - 1] = weight.size(0);
  constexpr raw::ProductNames names{"bilinear", "weight", "input2"};
  const Tensor out = autograd::matmul(left, y.unsqueeze(2), names).reshape(shape);
  return bias.defined() ? out + bias : out;
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  GRADUS_AUTOCAST(linalg_vecdot, x, y, dim);
  constexpr const char* op = "linalg.vecdot";
  broadcast_shapes(op, x.operand(op, "x").sizes(), y.operand(op, "y").sizes());
  return (conj(x) * y).sum(dim, false, promoteTypes(x.dtype(), y.dtype()));
}

}  // namespace gradus
