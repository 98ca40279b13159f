// uniform_, normal_, bernoulli_ and the other draws in place; normal and bernoulli by tensors. No
// number depends smoothly on its parameters, or on what was there before: the gradients are zero.

#include <cmath>
#include <limits>

#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// Records that `out` has a gradient of zero by `inputs`.
void record_zero(const char* node, const Tensor& out, TensorRefs inputs) {
  bool any = false;
  for (const Tensor& input : inputs) any |= recording(input);
  if (!any) return;
  record(node, out, inputs, {}, [count = inputs.size()](Node&, const Tensor& grad) {
    return Tensors(count, zeros_like(grad));
  });
}

// draw(x) fills x with numbers.
template <class Draw>
Tensor& drawn(const char* op, const char* node, const Tensor& self, Draw draw) {
  return in_place(op, self, recording(self), draw, [&](const Tensor& old) {
    const Tensor out = raw::empty_like(old);
    draw(out);
    record_zero(node, out, {old});
    return out;
  });
}

void check_deviation(const char* op, double std) {
  check(std >= 0, op, ": normal expects std >= 0.0, but found std ", std, "; give its magnitude");
}

void check_probability(const char* op, double p) {
  check(p >= 0 && p <= 1, op, ": ", op, " expects p to be in [0, 1], but got p=", p,
        "; give a probability");
}
void check_probabilities(const char* op, const Tensor& p) {
  check<TypeError>(p.is_floating_point(), op, ": the probabilities have dtype ", p.scalar_type(),
                   ", expected a floating point one; convert with .to(kFloat)");
  if (!p.is_cpu() || p.numel() == 0) return;  // a GPU would have to be waited for
  const Tensor inside = raw::zip(BinaryOp::logical_and, raw::zip(BinaryOp::ge, p, Scalar(0)),
                                 raw::zip(BinaryOp::le, p, Scalar(1)));
  check(raw::item(raw::reduce(ReduceOp::amin, raw::to(inside, kLong), {})).toBool(), op,
        ": a probability lies outside of 0 to 1; clamp them, or take a sigmoid");
}

// 1 with the probability p, else 0.
Tensor by_probabilities(const Tensor& p, const std::optional<Generator>& generator) {
  const Tensor out = raw::empty_like(p);
  raw::random_map(RandomMap::bernoulli, 0, raw::take(generator, p.device(), p.numel()), p, out);
  return out;
}

}  // namespace

Tensor& Tensor::uniform_(double from, double to, std::optional<Generator> generator) const {
  raw::check_floating("uniform_", *this);
  check(from <= to,
        "uniform_: uniform_ expects to return a [from, to) range, but found from=", from,
        " > to=", to, "; exchange them");
  for (const double bound : {from, to}) raw::check_fits("uniform_", bound, scalar_type());
  return drawn("uniform", "UniformBackward0", *this, [&](const Tensor& x) {
    raw::random_(x, Distribution::uniform, from, to, generator);
  });
}

Tensor& Tensor::normal_(double mean, double std, std::optional<Generator> generator) const {
  raw::check_floating("normal_", *this);
  check_deviation("normal_", std);
  return drawn("normal", "NormalBackward0", *this, [&](const Tensor& x) {
    raw::random_(x, Distribution::normal, mean, std, generator);
  });
}

Tensor& Tensor::log_normal_(double mean, double std, std::optional<Generator> generator) const {
  raw::check_floating("log_normal_", *this);
  check(std > 0, "log_normal_: log_normal_ expects std > 0.0, but found std=", std,
        "; for one number everywhere use fill_()");
  return drawn("log_normal", "LogNormalBackward0", *this, [&](const Tensor& x) {
    raw::random_(x, Distribution::log_normal, mean, std, generator);
  });
}

Tensor& Tensor::exponential_(double lambd, std::optional<Generator> generator) const {
  raw::check_floating("exponential_", *this);
  check(lambd > 0, "exponential_: exponential_ expects lambda > 0.0, but found lambda=", lambd,
        "; give the reciprocal of the mean");
  return drawn("exponential", "ExponentialBackward0", *this, [&](const Tensor& x) {
    raw::random_(x, Distribution::exponential, lambd, 0, generator);
  });
}

Tensor& Tensor::cauchy_(double median, double sigma, std::optional<Generator> generator) const {
  raw::check_floating("cauchy_", *this);
  check(sigma > 0, "cauchy_: cauchy_ expects sigma > 0.0, but found sigma=", sigma,
        "; for one number everywhere use fill_()");
  return drawn("cauchy", "CauchyBackward0", *this, [&](const Tensor& x) {
    raw::random_(x, Distribution::cauchy, median, sigma, generator);
  });
}

Tensor& Tensor::geometric_(double p, std::optional<Generator> generator) const {
  check(p > 0 && p < 1, "geometric_: geometric_ expects p to be in (0, 1), but got p=", p,
        "; give the probability that a trial succeeds");
  check<TypeError>(dtype() != kBool,
                   "geometric_: dtype bool does not hold a number of trials; use kLong or kFloat");
  return drawn("geometric", "GeometricBackward0", *this,
               [&](const Tensor& x) { raw::random_(x, Distribution::geometric, p, 0, generator); });
}

Tensor& Tensor::bernoulli_(double p, std::optional<Generator> generator) const {
  check_probability("bernoulli_", p);
  return drawn("bernoulli", "BernoulliBackward0", *this,
               [&](const Tensor& x) { raw::random_(x, Distribution::bernoulli, p, 0, generator); });
}

Tensor& Tensor::bernoulli_(const Tensor& p, std::optional<Generator> generator) const {
  check_probabilities("bernoulli_", p);
  raw::check_same_device("bernoulli_", *this, "self", p, "p");
  const Tensor fitting = raw::expand(p, sizes());
  return drawn("bernoulli", "BernoulliBackward1", *this,
               [&](const Tensor& x) { raw::copy_(x, by_probabilities(fitting, generator)); });
}

Tensor& Tensor::random_(int64_t from, std::optional<int64_t> to,
                        std::optional<Generator> generator) const {
  // The dtype counts exactly from `least` to below `end`.
  const auto [least, end] = visit(dtype(), []<class T>(TypeTag<T>) -> std::pair<int64_t, int64_t> {
    constexpr int digits = std::numeric_limits<T>::digits;
    if constexpr (digits == 63)
      return {INT64_MIN, INT64_MAX};
    else if constexpr (std::is_integral_v<T>)
      return {std::numeric_limits<T>::lowest(), int64_t{1} << digits};
    else
      return {-(int64_t{1} << digits), (int64_t{1} << digits) + 1};
  });
  const int64_t below = to.value_or(end);
  check(from < below, "random_: random_ expects 'from' to be less than 'to', but got from=", from,
        " >= to=", below, "; 'to' is not drawn itself");
  check(from >= least && below <= end, "random_: dtype ", scalar_type(), " does not count from ",
        from, " to ", below - 1, "; use a wider dtype, or a smaller range");
  return drawn("random", "RandomBackward0", *this, [&](const Tensor& x) {
    raw::random_(x, Distribution::randint, from, below, generator);
  });
}
Tensor& Tensor::random_(int64_t to, std::optional<Generator> generator) const {
  return random_(0, to, std::move(generator));
}
Tensor& Tensor::random_(std::optional<Generator> generator) const {
  return random_(0, std::nullopt, std::move(generator));
}

Tensor bernoulli(const Tensor& self, std::optional<Generator> generator) {
  check_probabilities("bernoulli", self);
  const Tensor out = by_probabilities(self, generator);
  record_zero("BernoulliBackward0", out, {self});
  return out;
}
Tensor bernoulli(const Tensor& self, double p, std::optional<Generator> generator) {
  check_probability("bernoulli", p);
  const Tensor out = raw::empty_like(self);
  raw::random_(out, Distribution::bernoulli, p, 0, generator);
  record_zero("BernoulliBackward0", out, {self});
  return out;
}
Tensor Tensor::bernoulli(std::optional<Generator> generator) const {
  return gradus::bernoulli(*this, std::move(generator));
}
Tensor Tensor::bernoulli(double p, std::optional<Generator> generator) const {
  return gradus::bernoulli(*this, p, std::move(generator));
}

Tensor normal(double mean, double std, IntArrayRef size, std::optional<Generator> generator,
              const TensorOptions& options) {
  check_deviation("normal", std);
  checked_numel("normal", size);
  const Tensor out = empty(size, options.requires_grad(false));
  raw::check_floating("normal_", out);
  raw::random_(out, Distribution::normal, mean, std, generator);
  return out.set_requires_grad(options.requires_grad());
}

namespace {
// mean + std * a normal number.
Tensor scaled_normal(const Operand& mean, const Operand& std, IntArrayRef size, const Tensor& like,
                     const std::optional<Generator>& generator) {
  raw::check_floating("normal_", like);
  const Tensor z = raw::empty(size, like.dtype(), like.device());
  raw::random_(z, Distribution::normal, 0, 1, generator);
  return raw::zip(BinaryOp::add, mean, raw::zip(BinaryOp::mul, z, std));
}
void check_deviations(const Tensor& std) {
  if (!std.is_cpu() || std.numel() == 0) return;  // a GPU would have to be waited for
  const double least = raw::item(raw::reduce(ReduceOp::amin, std, {})).toDouble();
  check(least >= 0, "normal: normal expects all elements of std >= 0.0, and one is ", least,
        "; take its abs()");
}
}  // namespace

Tensor normal(const Tensor& mean, double std, std::optional<Generator> generator) {
  check_deviation("normal", std);
  const Tensor out = scaled_normal(mean, Scalar(std), mean.sizes(), mean, generator);
  record_zero("NormalBackward1", out, {mean});
  return out;
}
Tensor normal(double mean, const Tensor& std, std::optional<Generator> generator) {
  check_deviations(std);
  const Tensor out = scaled_normal(Scalar(mean), std, std.sizes(), std, generator);
  record_zero("NormalBackward2", out, {std});
  return out;
}
Tensor normal(const Tensor& mean, const Tensor& std, std::optional<Generator> generator) {
  raw::check_same_device("normal", mean, "mean", std, "std");
  check_deviations(std);
  const Dims size = broadcast_shapes("normal", mean.sizes(), std.sizes());
  const Tensor out = scaled_normal(mean, std, size, mean, generator);
  record_zero("NormalBackward3", out, {mean, std});
  return out;
}

}  // namespace gradus
