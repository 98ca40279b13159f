// Nearly every operation at 1e3, 1e5 and 1e7 elements: a survey, where bench/ops.cpp has the
// operations that models are made of.
#include "bench/turns.h"

// Times an expression under its own text; `size` is in scope.
#define OP(...) turns::time(#__VA_ARGS__ ", " + size, [&] { __VA_ARGS__; })

namespace {

using torch::Tensor, torch::kLong;
using torch::indexing::Slice;
using turns::on;

// From (0, 1), where every function is defined, and away from its ends.
Tensor numbers(int64_t n) { return torch::rand({n}, on) * 0.9 + 0.05; }

void functions(const std::string& size, int64_t n) {
  const Tensor x = numbers(n), s = torch::randn({n}, on), big = x + 1;
  OP(x.abs()), OP(x.neg()), OP(x.sign()), OP(x.ceil()), OP(x.floor()), OP(x.round()), OP(x.trunc());
  OP(x.frac()), OP(x.square()), OP(x.sqrt()), OP(x.rsqrt()), OP(x.reciprocal());
  OP(x.exp()), OP(x.exp2()), OP(x.expm1()), OP(x.log()), OP(x.log2()), OP(x.log10()), OP(x.log1p());
  OP(x.sin()), OP(x.cos()), OP(x.tan()), OP(x.asin()), OP(x.acos()), OP(x.atan());
  OP(x.sinh()), OP(x.cosh()), OP(x.tanh()), OP(x.asinh()), OP(big.acosh()), OP(x.atanh());
  OP(x.erf()), OP(x.erfc()), OP(x.erfinv()), OP(x.lgamma()), OP(x.digamma()), OP(x.i0());
  OP(x.sinc()), OP(x.logit()), OP(x.sigmoid()), OP(x.deg2rad()), OP(x.nan_to_num());
  OP(torch::angle(x)), OP(x.isnan()), OP(x.isinf()), OP(x.isfinite()), OP(x.signbit());
  OP(x.logical_not());
  OP(s.relu()), OP(torch::relu6(s)), OP(torch::selu(s)), OP(torch::celu(s)), OP(torch::elu(s));
  OP(torch::silu(s)), OP(torch::mish(s)), OP(torch::gelu(s)), OP(torch::gelu(s, "tanh"));
  OP(torch::softplus(s)), OP(torch::hardswish(s)), OP(torch::hardsigmoid(s));
  OP(torch::hardtanh(s)), OP(torch::leaky_relu(s)), OP(torch::log_sigmoid(s));
  OP(torch::hardshrink(s)), OP(torch::softshrink(s)), OP(torch::threshold(s, 0.1, 0));
}

void pairs(const std::string& size, int64_t n) {
  const Tensor x = numbers(n), y = numbers(n), z = numbers(n), s = torch::randn({n}, on);
  const Tensor same = x.clone();  // PyTorch on a GPU does not look at a tensor beside itself
  OP(x + y), OP(x - y), OP(x * y), OP(x / y), OP(x + 1), OP(x * 2.5), OP(1 - x), OP(1 / x);
  OP(x.pow(2)), OP(x.pow(3)), OP(x.pow(0.5)), OP(x.pow(2.3)), OP(torch::pow(2, x)), OP(x.pow(y));
  OP(x.atan2(y)), OP(x.hypot(y)), OP(x.fmod(y)), OP(x.remainder(y)), OP(x.remainder(0.3));
  OP(torch::floor_divide(x, y)), OP(x.maximum(y)), OP(x.minimum(y)), OP(x.fmax(y));
  OP(x.xlogy(y)), OP(torch::logaddexp(x, y)), OP(x.copysign(s)), OP(torch::nextafter(x, y));
  OP(torch::heaviside(s, y)), OP(x.ldexp(y)), OP(torch::add(x, y, 2.5)), OP(torch::rsub(x, 1));
  OP(x == y), OP(x < y), OP(x > 0.5), OP(x.logical_and(y)), OP(x.logical_xor(y));
  OP(x.isclose(y)), OP(x.equal(same)), OP(x.allclose(x));
  OP(x.clamp(0.2, 0.7)), OP(x.clamp_min(0.2)), OP(x.clamp(y, z)), OP(x.lerp(y, 0.3));
  OP(x.lerp(y, z)), OP(x.addcmul(y, z)), OP(x.addcdiv(y, z)), OP(torch::dropout(x, 0.5, true));
}

void in_place(const std::string& size, int64_t n) {
  const Tensor x = numbers(n), y = numbers(n), mask = x > 0.5;
  Tensor w = numbers(n), out = torch::empty({n}, on);
  OP(torch::add_out(out, x, y)), OP(torch::mul_out(out, x, y)), OP(torch::exp_out(out, x));
  OP(w.add_(y, 1e-9)), OP(w.add_(1e-9)), OP(w.mul_(1.0)), OP(w.div_(1.0)), OP(w.clamp_(0, 1));
  OP(w.relu_()), OP(w.sqrt_()), OP(w.sigmoid_()), OP(w.copy_(y)), OP(w.lerp_(y, 0.5));
  OP(w.addcmul_(x, y, 1e-9)), OP(w.addcdiv_(x, y, 1e-9)), OP(w.masked_fill_(mask, 0.5));
  OP(w.zero_()), OP(w.fill_(3)), OP(w.uniform_()), OP(w.normal_()), OP(w.bernoulli_(0.5));
  OP(w.exponential_()), OP(w.random_(10)), OP(w.log_normal_()), OP(w.cauchy_());
  OP(w.geometric_(0.5));
}

void creation(const std::string& size, int64_t n) {
  const Tensor x = numbers(n);
  OP(torch::zeros({n}, on)), OP(torch::ones({n}, on)), OP(torch::full({n}, 2., on)),
      OP(torch::empty({n}, on));
  OP(x.clone()), OP(torch::zeros_like(x)), OP(torch::rand_like(x)), OP(torch::arange(n, on));
  OP(torch::arange(n, on.dtype(torch::kFloat))), OP(torch::linspace(0, 1, n, on)),
      OP(torch::logspace(0, 1, n, 10, on));
  OP(torch::rand({n}, on)), OP(torch::randn({n}, on)), OP(torch::randint(10, {n}, on)),
      OP(torch::randperm(n, on));
  OP(torch::bernoulli(x)), OP(torch::poisson(x)), OP(torch::multinomial(x, 10, true));
}

void types(const std::string& size, int64_t n) {
  const Tensor x = numbers(n), y = numbers(n), b = x > 0.5, c = y > 0.5;
  const Tensor l = (x * 1000).to(kLong), m = (y * 1000).to(kLong) + 1, i = l.to(torch::kInt);
  const Tensor u = (x * 255).to(torch::kByte), d = x.to(torch::kDouble), e = y.to(torch::kDouble);
  const Tensor h = x.to(torch::kHalf), f = x.to(torch::kBFloat16);
  OP(x.to(torch::kDouble)), OP(x.to(torch::kHalf)), OP(x.to(torch::kBFloat16)), OP(x.to(kLong));
  OP(x.to(torch::kInt)), OP(x.to(torch::kBool)), OP(b.to(torch::kFloat)), OP(u.to(torch::kFloat));
  OP(h.to(torch::kFloat)), OP(f.to(torch::kFloat)), OP(d.to(torch::kFloat)), OP(l.to(torch::kInt));
  OP(b & c), OP(b | c), OP(~b), OP(b.any()), OP(b.all()), OP(b.sum()), OP(b.count_nonzero());
  OP(l + m), OP(l * m), OP(l / m), OP(l % 7), OP(torch::floor_divide(l, m)), OP(l == m), OP(l & m);
  OP(torch::bitwise_left_shift(l, 2)), OP(l.sum()), OP(l.max()), OP(l.abs()), OP(l.cumsum(0));
  OP(l.sort()), OP(l.topk(5)), OP(i + i), OP(i * 3), OP(i.sum()), OP(u + u), OP(u.sum());
  OP(u.max()), OP(x + d), OP(x + l), OP(x * b);
  OP(h + h), OP(h * 2.), OP(h.exp()), OP(h.sum()), OP(f + f), OP(f.exp()), OP(f.sum());
  OP(d + e), OP(d.exp()), OP(d.log()), OP(d.sin()), OP(d.tanh()), OP(d.sqrt()), OP(d.sigmoid());
  OP(d.erf()), OP(d.pow(e)), OP(d.atan2(e)), OP(torch::gelu(d)), OP(d.sum()), OP(d.max());
  OP(d.cumsum(0)), OP(d.softmax(0));
}

void reductions(const std::string& size, int64_t n, int64_t rows) {
  const Tensor x = numbers(n), y = numbers(n), X = x.view({rows, n / rows});
  const Tensor T = numbers(n).view({n / rows, rows}).t();
  OP(x.sum()), OP(x.mean()), OP(x.prod()), OP(x.max()), OP(x.argmax()), OP(x.aminmax());
  OP(x.var()), OP(x.std()), OP(x.norm()), OP(x.norm(1)), OP(x.norm(3)), OP(x.dist(y));
  OP(x.logsumexp(0)), OP(x.nansum()), OP(x.count_nonzero()), OP(x.any()), OP(x.all());
  OP(x.dot(y)), OP(x.softmax(0)), OP(x.log_softmax(0)), OP(torch::trapezoid(x)), OP(x.diff());
  OP(X.sum(0)), OP(X.sum(1)), OP(T.sum(0)), OP(T.sum(1)), OP(X.mean(0)), OP(X.mean(1));
  OP(X.amax(0)), OP(X.amax(1)), OP(X.max(0)), OP(X.max(1)), OP(X.argmax(0)), OP(X.argmax(1));
  OP(X.var(0)), OP(X.var(1)), OP(X.std(1)), OP(X.norm(2, 0)), OP(X.norm(2, 1)), OP(X.prod(0));
  OP(X.prod(1)), OP(X.logsumexp(0)), OP(X.logsumexp(1)), OP(X.softmax(0)), OP(X.softmax(1));
  OP(X.any(0)), OP((X > 2).any(1)), OP((X > 0).all(1));
}

void order(const std::string& size, int64_t n, int64_t rows) {
  const Tensor x = numbers(n), X = x.view({rows, n / rows}), list = std::get<0>(numbers(n).sort());
  const Tensor l = (x * 1000).to(kLong), bounds = torch::linspace(0, 1, 100, on);
  OP(x.cumsum(0)), OP(x.cumprod(0)), OP(x.cummax(0)), OP(x.logcumsumexp(0));
  OP(X.cumsum(0)), OP(X.cumsum(1)), OP(X.cumprod(1)), OP(X.cummax(1));
  OP(x.sort()), OP(x.argsort()), OP(X.sort(0)), OP(X.sort(1)), OP(x.topk(10)), OP(x.topk(n / 10));
  OP(X.topk(5, 0)), OP(X.topk(5, 1)), OP(x.kthvalue(n / 2)), OP(x.median()), OP(x.median(0));
  OP(X.median(1)), OP(x.mode(0)), OP(x.quantile(0.3)), OP(x.histc(100)), OP(l.bincount());
  OP(torch::_unique2(l)), OP(torch::unique_consecutive(l)), OP(torch::searchsorted(list, x));
  OP(torch::bucketize(x, bounds)), OP(torch::isin(l, l.narrow(0, 0, 100)));
}

void shapes(const std::string& size, int64_t n, int64_t rows) {
  const int64_t columns = n / rows;
  const Tensor X = numbers(n).view({rows, columns}), Y = numbers(n).view({rows, columns});
  const Tensor T = numbers(n).view({columns, rows}).t(), row = X[0], column = X.narrow(1, 0, 1);
  OP(X + T), OP(X + row), OP(X + column), OP(T + T), OP(T.contiguous()), OP(T.exp());
  OP(torch::cat({X, Y}, 0)), OP(torch::cat({X, Y}, 1)), OP(torch::stack({X, Y}));
  OP(torch::stack({X, Y}, 2)), OP(X.repeat({2, 1})), OP(X.repeat({1, 2}));
  OP(X.repeat_interleave(2, 0)), OP(X.repeat_interleave(2, 1)), OP(X.flip(0)), OP(X.flip(1));
  OP(X.roll(3, 0)), OP(X.roll(3, 1)), OP(X.rot90()), OP(X.tril()), OP(X.triu());
  OP(torch::constant_pad_nd(X, {1, 1, 1, 1})), OP(X.expand({2, rows, columns}).contiguous());
  OP(X.chunk(2, 1)[0].contiguous()), OP(X.slice(1, 0, columns, 2).contiguous());
  OP(X.narrow(1, 1, columns - 2).contiguous()), OP(X.unfold(1, 3, 1).contiguous()), OP(X.diag());
  OP(X.mv(row)), OP(torch::outer(X.select(1, 0), row)), OP(torch::einsum("ij,ij->i", {X, Y}));
  OP(torch::cosine_similarity(X, Y, 1));
}

void indexing(const std::string& size, int64_t n, int64_t rows) {
  const int64_t columns = n / rows;
  const Tensor x = numbers(n), y = numbers(n), mask = x > 0.5;
  const Tensor X = x.view({rows, columns}), Y = y.view({rows, columns});
  const Tensor up = torch::randint(rows, {rows, columns}, on.dtype(kLong)), some = up.select(1, 0);
  const Tensor along = torch::randint(columns, {rows, columns}, on.dtype(kLong)), few = along[0];
  const Tensor any = torch::randint(n, {n}, on.dtype(kLong));
  OP(X.gather(0, up)), OP(X.gather(1, along)), OP(X.index_select(0, some));
  OP(X.index_select(1, few)), OP(x.index_select(0, any)), OP(x.take(any)), OP(x.index({any}));
  OP(X.index({some})), OP(X.index({Slice(), few})), OP(X.index({X > 0.5})), OP(X.nonzero());
  OP((X > 0.9).nonzero()), OP(torch::where(mask, x, y)), OP(torch::where(mask, x, 0.));
  OP(x.masked_fill(mask, 1.)), OP(x.masked_select(mask)), OP(torch::one_hot(along % 10, 10));
  Tensor w = x.clone(), W = X.clone();
  OP(W.scatter_(1, along, Y)), OP(W.scatter_(1, along, 1.)), OP(W.scatter_add_(1, along, Y));
  OP(W.scatter_add_(0, up, Y)), OP(W.scatter_reduce_(1, along, Y, "amax"));
  OP(W.index_add_(0, some, Y)), OP(W.index_add_(1, few, Y)), OP(W.index_copy_(0, some, Y));
  OP(W.index_fill_(0, some, 1.)), OP(w.index_put_({any}, y)), OP(w.index_put_({any}, y, true));
  OP(w.index_put_({mask}, 1.)), OP(w.put_(any, y)), OP(w.masked_scatter_(mask, y));
  OP(W.index_put_({Slice(), 0}, 1.));
}

}  // namespace

int main(int argc, char** argv) {
  turns::read_arguments(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard guard;
  struct Size {
    const char* name;
    int64_t n, rows;
  };
  for (const auto& [size, n, rows] :
       {Size{"1e3", 1000, 25}, {"1e5", 100000, 250}, {"1e7", 10000000, 2500}}) {
    functions(size, n), pairs(size, n), in_place(size, n), creation(size, n), types(size, n);
    reductions(size, n, rows), order(size, n, rows), shapes(size, n, rows), indexing(size, n, rows);
  }
}
