// Tracer: operations on meta become expressions.
#include "gradus/tensor/fused/tracer.h"

#include <algorithm>

#include "gradus/tensor/raw/raw.h"

namespace gradus::fused {

namespace {

// Whether x shows the elements of a piece in their order, repeated along new or short dimensions.
bool shows(const Tensor& x, IntArrayRef sizes, IntArrayRef strides) {
  const auto rank = static_cast<int64_t>(sizes.size());
  for (int64_t back = 1; back <= std::max(x.dim(), rank); ++back) {
    const int64_t old = back <= rank ? sizes[rank - back] : 1;
    const int64_t now = back <= x.dim() ? x.sizes()[x.dim() - back] : 1;
    if (old == 1) {
      if (now != 1 && x.strides()[x.dim() - back] != 0) return false;
    } else if (now != old || x.strides()[x.dim() - back] != strides[rank - back]) {
      return false;
    }
  }
  return true;
}

}  // namespace

void Tracer::skip(const char* op) {
  fail<NotFusable>("fuse: ", op, " is no operation that kernels are fused of");
}

void Tracer::meet(const Tensor& x) {
  fail<NotFusable>("fuse: the function uses a tensor that is no argument, of shape ", x.sizes(),
                   " on ", x.device(), "; pass it as an argument");
}

Tensor Tracer::input(const Tensor& x) {
  const Tensor plain = raw::empty({}, x.scalar_type(), Device(kMeta));
  const Tensor out = raw::as_strided(plain, x.impl().sizes, x.impl().strides, 0);
  const StoragePtr& storage = out.impl().storage;
  memory_[storage.get()] = {storage, {{-1 - inputs_++, out.impl().sizes, out.impl().strides, 0}}};
  return raw::alias(out);
}

Computation Tracer::computation(ArrayRef<Tensor> outputs) {
  Computation out;
  for (const Tensor& output : outputs) {
    int expr = value(output);
    if (numel_of(sizes(expr)) == output.numel()) {
      expr = reshaped(expr, output);
    } else {  // a value that was expanded
      expr = add({.kind = Kind::convert,
                  .dtype = output.scalar_type(),
                  .sizes = output.impl().sizes,
                  .operands = {expr, -1, -1}});
    }
    out.outputs.push_back(expr);
  }
  out.exprs = exprs_;
  return out;
}

int Tracer::reshaped(int expr, const Tensor& x) {
  if (std::ranges::equal(sizes(expr), x.sizes())) return expr;
  return add({.kind = Kind::view,
              .dtype = x.scalar_type(),
              .sizes = x.impl().sizes,
              .operands = {expr, -1, -1},
              .strides = x.impl().strides});
}

int Tracer::add(Expr expr) {
  if (isComplexType(expr.dtype))
    fail<NotFusable>("fuse: a tensor of shape ", expr.sizes,
                     " is complex; kernels are fused of "
                     "real numbers");
  if (expr.kind != Kind::input && expr.kind != Kind::view && expr.strides.empty())
    expr.strides = contiguous_strides(expr.sizes);
  exprs_.push_back(std::move(expr));
  return static_cast<int>(exprs_.size()) - 1;
}

int Tracer::read(const Expr& input) {
  for (size_t i = 0; i < exprs_.size(); ++i)
    if (exprs_[i].kind == Kind::input && exprs_[i].input == input.input &&
        exprs_[i].offset == input.offset && std::ranges::equal(exprs_[i].sizes, input.sizes) &&
        std::ranges::equal(exprs_[i].strides, input.strides))
      return static_cast<int>(i);
  return add(input);
}

int Tracer::value(const Tensor& x) {
  const auto known = memory_.find(x.impl().storage.get());
  if (known == memory_.end())
    fail<NotFusable>("fuse: a tensor of shape ", x.sizes(), " is read before it is written");
  for (const Piece& piece : known->second.pieces) {
    if (piece.expr < 0) {
      Expr expr{.kind = Kind::input,
                .dtype = x.scalar_type(),
                .sizes = x.impl().sizes,
                .input = -1 - piece.expr,
                .strides = x.impl().strides,
                .offset = x.storage_offset()};
      return read(expr);
    }
    if (x.storage_offset() == piece.offset && shows(x, piece.sizes, piece.strides))
      return piece.expr;
  }
  const Piece& piece = known->second.pieces.front();
  if (known->second.pieces.size() > 1) skip("a view across two results");
  return add({.kind = Kind::view,
              .dtype = x.scalar_type(),
              .sizes = x.impl().sizes,
              .operands = {piece.expr, -1, -1},
              .strides = x.impl().strides,
              .offset = x.storage_offset()});
}

int Tracer::value(const Operand& x) { return x.is_number() ? number(x.number) : value(*x.tensor); }

void Tracer::set(const Tensor& out, int expr) {
  Memory& memory = memory_[out.impl().storage.get()];
  if (!memory.pieces.empty() && memory.pieces[0].expr < 0)
    fail<NotFusable>("fuse: an argument of shape ", out.sizes(), " is changed in place");
  if (out.nbytes() != out.impl().storage->nbytes())
    fail<NotFusable>("fuse: a part of a tensor, of shape ", out.sizes(), ", is changed in place");
  exprs_[static_cast<size_t>(expr)].strides = out.impl().strides;
  memory = {out.impl().storage, {{expr, out.impl().sizes, out.impl().strides, 0}}};
}

int Tracer::number(const Scalar& value) {
  return add({.kind = Kind::number, .dtype = value.type(), .number = value});
}

int Tracer::map(UnaryOp op, int x) {
  return add({.kind = Kind::map,
              .op = static_cast<uint8_t>(op),
              .dtype = exprs_[x].dtype,
              .sizes = sizes(x),
              .operands = {x, -1, -1}});
}

int Tracer::zip(BinaryOp op, int x, int y) {
  const Expr& first = exprs_[exprs_[x].kind == Kind::number ? y : x];
  return add({.kind = Kind::zip,
              .op = static_cast<uint8_t>(op),
              .dtype = first.dtype,
              .sizes = broadcast_shapes("fuse", sizes(x), sizes(y)),
              .operands = {x, y, -1}});
}

int Tracer::reduce(ReduceOp op, int x, size_t first, size_t last) {
  Dims small = sizes(x);
  for (size_t d = first; d < last; ++d) small[d] = 1;
  return add({.kind = Kind::reduce,
              .op = static_cast<uint8_t>(op),
              .dtype = exprs_[x].dtype,
              .sizes = small,
              .operands = {x, -1, -1}});
}

template <class Op>
void Tracer::set(const Tensor& out, Kind kind, Op op, int x, int y, int z, const Scalar& number) {
  set(out, add({.kind = kind,
                .op = static_cast<uint8_t>(op),
                .dtype = out.scalar_type(),
                .sizes = out.impl().sizes,
                .operands = {x, y, z},
                .number = number}));
}

void Tracer::fill(const Tensor& out, const Scalar& value) {
  set(out, Kind::convert, 0, number(value));
}

void Tracer::copy(const Tensor& src, const Tensor& dst) {
  const int from = value(src);
  Expr given = exprs_[static_cast<size_t>(from)];
  for (Copy& copy : copies_)
    if (given.kind == Kind::input && given.input == copy.of && dst.scalar_type() == copy.dtype &&
        std::ranges::equal(given.sizes, dst.sizes()) &&
        std::ranges::equal(given.strides, dst.strides())) {
      copy.used = true;
      given.dtype = copy.dtype;
      given.input = copy.input;
      return set(dst, read(given));
    }
  set(dst, Kind::convert, 0, from);
}

// A number that the function made on the CPU.
void Tracer::transfer(const Tensor& src, const Tensor& dst, bool non_blocking) {
  MetaBackend::transfer(src, dst, non_blocking);
  if (!src.is_cpu() || src.numel() != 1) meet(src);
  fill(dst, raw::item(src));
}

void Tracer::random_map(RandomMap op, double probability, PhiloxState state, const Tensor& x,
                        const Tensor& out) {
  if (op != RandomMap::dropout) skip("bernoulli");
  const auto [drawn, fresh] = drawn_.try_emplace(state.offset);
  if (fresh) {
    Expr expr{.kind = Kind::input,
              .dtype = kBool,
              .sizes = x.impl().sizes,
              .input = inputs_++,
              .strides = x.impl().strides};
    draws_.push_back({probability, expr.sizes, expr.input});
    drawn->second = add(expr);
  }
  const int kept = zip(BinaryOp::mul, value(x), number(Scalar(1 / (1 - probability))));
  set(out, Kind::where, 0, drawn->second, number(Scalar(0.0)), kept);
}

void Tracer::map(UnaryOp op, const Tensor& x, const Tensor& out) {
  set(out, Kind::map, op, value(x));
}

void Tracer::map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                      const Tensor& out) {
  const int from = value(grad), at = x.defined() ? value(x) : -1;
  set(out, Kind::map_grad, op, from, at, y.defined() ? value(y) : -1);
}

void Tracer::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const int a = value(x), b = value(y);
  set(out, Kind::zip, op, a, b);
}

void Tracer::ternary(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
                     const Scalar& w, const Tensor& out) {
  const int a = value(x), b = value(y), c = value(z);
  set(out, Kind::ternary, op, a, b, c, w);
}

void Tracer::where(const Tensor& condition, const Operand& x, const Operand& y, const Tensor& out) {
  const int c = value(condition), a = value(x), b = value(y);
  set(out, Kind::where, 0, c, a, b);
}

void Tracer::reduce(ReduceOp op, const Tensor& x, const Tensor& out) {
  const int from = whole(x);
  set(out, Kind::reduce, op, from);
}

Tensor Tracer::matrix(const Tensor& x) {
  if (x.size(0) != 1) return x;
  return raw::as_strided(x, {x.size(1), x.size(2)}, {x.stride(1), x.stride(2)}, x.storage_offset());
}

int Tracer::whole(const Tensor& x) {
  const int expr = value(x);
  if (std::ranges::equal(sizes(expr), x.sizes())) return expr;
  return add({.kind = Kind::convert,
              .dtype = x.scalar_type(),
              .sizes = x.impl().sizes,
              .operands = {expr, -1, -1}});
}

int Tracer::factor(const Tensor& batch) {
  const Tensor x = matrix(batch);
  const int expr = value(x);
  return numel_of(sizes(expr)) == x.numel() ? reshaped(expr, x) : whole(x);
}

void Tracer::matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  // One matrix for all batches, whose rows are those of one product.
  const auto in_one_batch = [](const Tensor& x) {
    return raw::try_view(x, {1, x.size(0) * x.size(1), x.size(2)});
  };
  if (const auto rows = in_one_batch(a); rows && a.size(0) > 1 && b.stride(0) == 0)
    return matmul(*rows, raw::narrow(b, 0, 0, 1), bias, *in_one_batch(out));
  const int left = factor(a), right = factor(b), added = bias.defined() ? whole(bias) : -1;
  set(matrix(out), Kind::product, 0, left, right, added);
}

void Tracer::matmul_sums(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums) {
  matmul(a, b, {}, out);
  set(sums, Kind::row_sums, 0, value(out));
}

void Tracer::softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) {
  const auto d = static_cast<size_t>(dim);
  const int from = whole(x);
  const int rest = zip(BinaryOp::sub, from, reduce(ReduceOp::amax, from, d, d + 1));
  const int powers = map(UnaryOp::exp, rest);
  const int sum = reduce(ReduceOp::sum, powers, d, d + 1);
  set(out,
      log ? zip(BinaryOp::sub, rest, map(UnaryOp::log, sum)) : zip(BinaryOp::div, powers, sum));
}

void Tracer::softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                          const Tensor& out) {
  const auto d = static_cast<size_t>(dim);
  const int g = whole(grad), result = value(y);
  if (log) {
    const int share =
        zip(BinaryOp::mul, map(UnaryOp::exp, result), reduce(ReduceOp::sum, g, d, d + 1));
    return set(out, zip(BinaryOp::sub, g, share));
  }
  const int sum = reduce(ReduceOp::sum, zip(BinaryOp::mul, g, result), d, d + 1);
  set(out, zip(BinaryOp::mul, result, zip(BinaryOp::sub, g, sum)));
}

size_t Tracer::first_of_row(const NormalizedRows& rows, const Tensor& x) {
  if (rows.shared || rows.groups != 1 || rows.inner != 1)
    skip("a normalisation but for layer_norm");
  auto first = static_cast<size_t>(x.dim());
  for (int64_t length = 1; first > 0 && length < rows.length;) length *= x.sizes()[--first];
  return first;
}

void Tracer::normalize(const NormalizedRows& rows, double eps, const Tensor& x,
                       const Tensor& weight, const Tensor& bias, const Tensor& mean,
                       const Tensor& rstd, const Tensor& out) {
  const size_t first = first_of_row(rows, x), last = static_cast<size_t>(x.dim());
  const auto computed = [&](const Tensor& t) {  // half types in float32
    const int expr = whole(t);
    const ScalarType dtype = computed_type(t.dtype());
    if (dtype == t.scalar_type()) return expr;
    return add(
        {.kind = Kind::convert, .dtype = dtype, .sizes = sizes(expr), .operands = {expr, -1, -1}});
  };
  const int from = computed(x), average = reduce(ReduceOp::mean, from, first, last);
  const int rest = zip(BinaryOp::sub, from, average);
  const int variance = reduce(ReduceOp::mean, map(UnaryOp::square, rest), first, last);
  const int scale = map(UnaryOp::rsqrt, zip(BinaryOp::add, variance, number(Scalar(eps))));
  int result = zip(BinaryOp::mul, rest, scale);
  if (weight.defined()) result = zip(BinaryOp::mul, result, computed(weight));
  if (bias.defined()) result = zip(BinaryOp::add, result, computed(bias));
  statistics_[mean.impl().storage.get()] = {mean.impl().storage, average};
  statistics_[rstd.impl().storage.get()] = {rstd.impl().storage, scale};
  if (exprs_[result].dtype == out.scalar_type()) return set(out, result);
  set(out, Kind::convert, 0, result);
}

int Tracer::statistic(const Tensor& x) {
  const auto known = statistics_.find(x.impl().storage.get());
  if (known == statistics_.end()) skip("a normalisation by given statistics");
  return known->second.expr;
}

int Tracer::normal(const Tensor& x, const Tensor& mean, const Tensor& rstd) {
  return zip(BinaryOp::mul, zip(BinaryOp::sub, value(x), statistic(mean)), statistic(rstd));
}

void Tracer::normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                            const Tensor& mean, const Tensor& rstd, const Tensor& sums) {
  const size_t first = first_of_row(rows, x);
  const int g = whole(grad);
  const int of_weight =
      reduce(ReduceOp::sum, zip(BinaryOp::mul, g, normal(x, mean, rstd)), 0, first);
  const int of_bias = reduce(ReduceOp::sum, g, 0, first);
  memory_[sums.impl().storage.get()] = {
      sums.impl().storage,
      {{of_weight, sizes(of_weight), exprs_[of_weight].strides, 0},
       {of_bias, sizes(of_bias), exprs_[of_bias].strides, rows.weights()}}};
}

void Tracer::normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                            const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                            const Tensor&, const Tensor& out) {
  const size_t first = first_of_row(rows, x), last = static_cast<size_t>(x.dim());
  const int standard = normal(x, mean, rstd);
  int g = whole(grad);
  if (weight.defined()) g = zip(BinaryOp::mul, g, value(weight));
  const int along = reduce(ReduceOp::mean, zip(BinaryOp::mul, g, standard), first, last);
  const int rest = zip(BinaryOp::sub, g, reduce(ReduceOp::mean, g, first, last));
  set(out, zip(BinaryOp::mul, zip(BinaryOp::sub, rest, zip(BinaryOp::mul, standard, along)),
               statistic(rstd)));
}

}  // namespace gradus::fused
