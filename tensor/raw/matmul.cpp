// matmul, linear and their checks: what ranks, shapes and dtypes multiply.
#include "gradus/tensor/meta.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/raw/strided.h"

namespace gradus::raw {

namespace {
void check_operands(const ProductNames& names, const Tensor& a, const Tensor& b) {
  const auto& [op, a_name, b_name] = names;
  check_same_device(op, a, a_name, b, b_name);
  check<TypeError>(a.dtype() == b.dtype(), op, ": ", a_name, " has dtype ", a.dtype(), ", ", b_name,
                   " has ", b.dtype(), "; convert one with .to(...)");
  check<TypeError>(a.dtype() != kBool, op,
                   ": dtype bool is not supported; convert with .to(kLong)");
}

void check_at_least_1d(const char* op, const Tensor& a, const Tensor& b) {
  check(a.dim() > 0 && b.dim() > 0, op,
        ": both arguments to matmul need to be at least 1D, but they are ", a.dim(), "D and ",
        b.dim(), "D; multiply by a number with *");
}

// How many rows x is where its last dimension holds their elements.
int64_t rows_of(const Tensor& x) { return numel_of(x.sizes().slice(0, x.sizes().size() - 1)); }

// How a matrix (m, k) and one of (rows, n) could be multiplied. A vector has no m, or no n.
constexpr int64_t kNoRows = -1, kNoColumns = -2;
std::string remedy(const char* a, const char* b, int64_t m, int64_t k, int64_t rows, int64_t n) {
  const std::string transpose = "; transpose ";
  if (k == n) return transpose + b + '?';
  if (m == rows) return transpose + a + '?';
  if (m == n) return std::string("; multiply ") + b + " by " + a + '?';
  return std::string("; expected as many columns of ") + a + " as rows of " + b;
}

// The error for a matrix (m, k) times one of (rows, n). `more` says what else there is to say.
template <class... More>
[[noreturn]] void fail_matrices(const char* op, int64_t m, int64_t k, int64_t rows, int64_t n,
                                const More&... more) {
  fail(op, ": mat1 and mat2 shapes cannot be multiplied (", m, "x", k, " and ", rows, "x", n, ")",
       more...);
}

[[noreturn]] void fail_batches(const char* op, int64_t batches, const Tensor& a, const Tensor& b) {
  fail(op, ": Expected size for first two dimensions of batch2 tensor to be: [", batches, ", ",
       a.size(2), "] but got: [", b.size(0), ", ", b.size(1), "] beside batch1 of shape ",
       a.sizes(), "; transpose or expand one of them");
}

[[noreturn, gnu::cold]] void fail_factors(const ProductNames& names, const Tensor& a,
                                          const Tensor& b) {
  const auto& [op, a_name, b_name] = names;
  const int64_t k = a.size(-1);
  if (a.dim() == 1 && b.dim() == 1)
    fail(op, ": inconsistent tensor size, expected tensor ", a.sizes(), " and src ", b.sizes(),
         " to have the same number of elements, but got ", k, " and ", b.size(0),
         " elements respectively; shorten one of them?");
  if (b.dim() == 1)
    fail(op, ": size mismatch, got ", rows_of(a), ", ", rows_of(a), "x", k, ",", b.size(0),
         remedy(a_name, b_name, a.size(-2), k, b.size(0), kNoColumns));
  if (a.dim() == 3 && b.dim() == 3) fail_batches(op, b.size(0), a, b);
  const std::string help =
      remedy(a_name, b_name, a.dim() > 1 ? a.size(-2) : kNoRows, k, b.size(-2), b.size(-1));
  if (a.dim() == 2 && b.dim() == 2) fail_matrices(op, a.size(0), k, b.size(0), b.size(1), help);
  fail_matrices(op, a.dim() > 1 && b.dim() > 2 ? a.size(-2) : rows_of(a), k, b.size(-2), b.size(-1),
                ": ", a_name, " has shape ", a.sizes(), ", ", b_name, " ", b.sizes(), help);
}

Tensor as_batch(const Tensor& x, int64_t batch, int64_t stride, int64_t offset) {
  const int64_t d = x.dim();
  return as_strided(x, {batch, x.sizes()[d - 2], x.sizes()[d - 1]},
                    {stride, x.strides()[d - 2], x.strides()[d - 1]}, x.storage_offset() + offset);
}

// The dtype that a product of such factors is computed in.
ScalarType product_type(const Tensor& x) {
  const ScalarType dtype = x.scalar_type();
  return contracts::takes_dtype(contracts::matmul::a, acting_device(x), dtype)
             ? dtype
             : computed_type(dtype);
}

// (a + ib)(c + id) by four products of real views: no kernel of its own.
template <class F>
Tensor product_of_parts(const Tensor& a, const Tensor& b, const F& product) {
  const auto parts = [&](int64_t i, int64_t j) { return product(part_of(a, i), part_of(b, j)); };
  const Tensor re = parts(0, 0), im = parts(0, 1);
  zip_(BinaryOp::sub, re, parts(1, 1));
  zip_(BinaryOp::add, im, parts(1, 0));
  Tensor out = empty(re.sizes(), a.dtype(), a.device());
  copy_(part_of(out, 0), re);
  copy_(part_of(out, 1), im);
  return out;
}

// a (..., M, K), b (..., K, N) with equal batch dimensions (strides may be 0), out contiguous.
void batched(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  if (out.numel() == 0) return;
  const size_t rank = out.sizes().size() - 2;
  const auto lead = [rank](IntArrayRef list) { return list.slice(0, rank); };
  const Strided<3> walk =
      collapse<3>(lead(out.sizes()), {lead(out.strides()), lead(a.strides()), lead(b.strides())});
  // The innermost merged dimension is one backend call; the ones before it are counted here.
  const int outer = std::max(walk.dims - 1, 0);
  const int64_t inner = walk.dims ? walk.size[walk.dims - 1] : 1;
  const auto step = [&](int n) { return walk.dims ? walk.stride[n][walk.dims - 1] : 0; };
  int64_t count[kMaxDims] = {};
  for (;;) {
    int64_t offset[3] = {0, 0, 0};
    for (int d = 0; d < outer; ++d)
      for (int n = 0; n < 3; ++n) offset[n] += count[d] * walk.stride[n][d];
    backend(out).matmul(as_batch(a, inner, step(1), offset[1]),
                        as_batch(b, inner, step(2), offset[2]), bias,
                        as_batch(out, inner, step(0), offset[0]));
    int d = outer - 1;
    while (d >= 0 && ++count[d] == walk.size[d]) count[d--] = 0;
    if (d < 0) return;
  }
}
}  // namespace

void check_factors(const ProductNames& names, const Tensor& a, const Tensor& b) {
  check_operands(names, a, b);
  check_at_least_1d(names.op, a, b);
  if (a.size(-1) != b.size(b.dim() == 1 ? 0 : -2)) fail_factors(names, a, b);
}

void check_ranks(const ProductNames& names, const Tensor& a, int64_t a_rank, const Tensor& b,
                 int64_t b_rank) {
  const auto& [op, a_name, b_name] = names;
  a.operand(op, a_name), b.operand(op, b_name);
  check(a_rank + b_rank > 2 || (a.dim() == 1 && b.dim() == 1), op,
        ": 1D tensors expected, but got ", a.dim(), "D and ", b.dim(), "D tensors: ", a_name,
        " has shape ", a.sizes(), ", ", b_name, " ", b.sizes(), "; use matmul for other ranks");
  check(b_rank > 1 || (a.dim() == a_rank && b.dim() == 1), op,
        ": vector + matrix @ vector expected, got 1, ", a.dim(), ", ", b.dim(), ": ", a_name,
        " has shape ", a.sizes(), ", ", b_name, " ", b.sizes(), "; use matmul for other ranks");
  const auto check_rank = [op = op](const Tensor& x, const char* name, int64_t rank) {
    check(x.dim() == rank, op, ": ", name, " must be a ", rank == 2 ? "matrix" : "3D tensor",
          ", not of shape ", x.sizes(), "; use matmul for other ranks");
  };
  check_rank(a, a_name, a_rank), check_rank(b, b_name, b_rank);
  if (a_rank == 3 && a.size(0) != b.size(0)) fail_batches(op, a.size(0), a, b);
}

Tensor matmul(const Tensor& a, const Tensor& b, const ProductNames& names) {
  check_factors(names, a, b);
  if (a.is_complex())
    return product_of_parts(a, b,
                            [](const Tensor& x, const Tensor& y) { return raw::matmul(x, y); });
  // A vector on the left is a row, on the right a column; the extra dimension goes away again.
  const Tensor left = a.dim() == 1 ? raw::unsqueeze(a, 0) : a;
  const Tensor right = b.dim() == 1 ? raw::unsqueeze(b, 1) : b;
  const int64_t m = left.size(-2), k = left.size(-1), n = right.size(-1);
  Dims sizes = broadcast_shapes(names.op, left.sizes().slice(0, left.sizes().size() - 2),
                                right.sizes().slice(0, right.sizes().size() - 2));
  const auto with = [&](int64_t rows, int64_t columns) {
    Dims full = sizes;
    full.push_back(rows), full.push_back(columns);
    return full;
  };
  const ScalarType compute = product_type(a);
  Tensor out = empty(with(m, n), compute, a.device());
  batched(raw::expand(to(left, compute), with(m, k)), raw::expand(to(right, compute), with(k, n)),
          Tensor(), out);
  out = to(std::move(out), a.dtype());
  Dims shape = sizes;
  if (a.dim() > 1) shape.push_back(m);
  if (b.dim() > 1) shape.push_back(n);
  return shape.size() == out.sizes().size() ? out : raw::alias(*try_view(out, shape));
}

void matmul_into(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums) {
  if (a.is_complex()) {
    copy_(out, raw::matmul(a, b));
    if (sums.defined())
      copy_(sums, raw::alias(*try_view(reduce(ReduceOp::sum, a, IntArrayRef{1}), {a.size(0)})));
    return;
  }
  if (sums.defined() && a.size(1) > 0)
    return backend(out).matmul_sums(raw::unsqueeze(a, 0), raw::unsqueeze(b, 0),
                                    raw::unsqueeze(out, 0), sums);
  if (sums.defined()) fill_(sums, 0);
  batched(to(a, product_type(a)), to(b, product_type(b)), Tensor(), out);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  x.operand("linear", "input");
  check(weight.operand("linear", "weight").dim() == 2, "linear: weight has shape ", weight.sizes(),
        "; expected (out_features, in_features)");
  check_at_least_1d("linear", x, weight);
  const int64_t rows = rows_of(x);
  if (x.size(-1) != weight.size(1))
    fail_matrices("linear", rows, x.size(-1), weight.size(1), weight.size(0), ": input has shape ",
                  x.sizes(), ", expected in_features = ", weight.size(1),
                  " last; flatten it first?");
  check_operands({"linear", "input", "weight"}, x, weight);
  if (bias.defined()) {
    check_operands({"linear", "input", "bias"}, x, bias);
    check(bias.dim() == 1 && bias.size(0) == weight.size(0), "linear: bias has shape ",
          bias.sizes(), ", expected [", weight.size(0), "]; give a number for each output feature");
  }
  if (x.is_complex()) {
    const Tensor product = raw::matmul(x, raw::transpose(weight, 0, 1));
    if (bias.defined()) zip_(BinaryOp::add, product, bias);
    return product;
  }
  // All leading dimensions are rows of one product.
  Dims shape = x.impl().sizes;
  shape[shape.size() - 1] = weight.size(0);
  const ScalarType compute = product_type(x);
  Tensor out = empty(shape, compute, x.device());
  if (out.numel() == 0) return to(std::move(out), x.dtype());
  Tensor flat = to(x, compute);
  if (x.dim() != 2) {
    const auto view = try_view(flat, {rows, x.size(-1)});
    flat = view ? *view : *try_view(raw::clone(flat), {rows, x.size(-1)});
  }
  backend(out).matmul(
      as_batch(flat, 1, 0, 0), as_batch(raw::transpose(to(weight, compute), 0, 1), 1, 0, 0),
      bias.defined() ? to(bias, compute) : bias, *try_view(out, {1, rows, weight.size(0)}));
  return to(std::move(out), x.dtype());
}

}  // namespace gradus::raw
