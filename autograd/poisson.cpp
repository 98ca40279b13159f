// Draws of counts by their rates or probabilities. They are made on the CPU, so that a seed gives
// the same ones whatever device the parameters are on.
#include <cmath>
#include <utility>

#include "gradus/autograd/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/philox.h"
#include "gradus/tensor/raw.h"

namespace gradus {

namespace {

// The uniform numbers of one element, two by two: a count takes as many as it happens to need, and
// no element changes those of another. The first two, which often are enough, are drawn for many
// elements at once.
class Stream {
 public:
  struct Pair {
    double first, second;
  };
  static_assert(philox::kElementsPerBlock == 2);

  Stream(const double* ahead, uint64_t key, int64_t element)
      : ahead_(ahead), key_(key), place_(static_cast<uint64_t>(element) << 32) {}

  Pair next() {
    if (const double* const pair = std::exchange(ahead_, nullptr)) return {pair[0], pair[1]};
    const philox::Block block = philox::block(key_, place_++);
    return {philox::unit(philox::words(block, 0), double{}),
            philox::unit(philox::words(block, 1), double{})};
  }

 private:
  const double* ahead_;
  uint64_t key_, place_;
};

// log of the factorial
double log_factorial(double k) { return std::lgamma(k + 1); }

// The scheme of W. Hörmann's rejections, "The transformed rejection method for generating Poisson
// random variables" (1993) and "The generation of binomial random variates" (1993): the inverse of
// an easy distribution function about `mode`, of width b, is taken where the true one is as likely.
// log_odds(k) is the logarithm of the probability of k, over `alpha`.
template <class LogOdds>
double rejected(Stream& stream, double a, double b, double centre, double quick, double most,
                LogOdds log_odds) {
  for (;;) {
    const auto [first, second] = stream.next();
    const double u = first - 0.5, v = 1 - second;
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + centre);
    if (edge >= 0.07 && v <= quick) return k;
    if (k < 0 || k > most || (edge < 0.013 && v > edge)) continue;
    if (std::log(v / (a / (edge * edge) + b)) <= log_odds(k)) return k;
  }
}

double draw_poisson(Stream& stream, double rate) {
  // As many as exponential waits, whose sum is -log(product), fit into the rate. Whether the first
  // of two does is no branch to be guessed wrong.
  if (rate < 10) {
    const double enough = std::exp(-rate);
    double k = 0;
    for (double product = 1; product > enough;) {
      const auto [first, second] = stream.next();
      const double once = product * (1 - first);
      product = once * (1 - second);
      k += static_cast<double>((once > enough) + (product > enough));
    }
    return k;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double alpha = 1.1239 + 1.1328 / (b - 3.4);
  return rejected(stream, a, b, rate + 0.43, 0.9277 - 3.6224 / (b - 2), HUGE_VAL, [=](double k) {
    return k * std::log(rate) - rate - log_factorial(k) - std::log(alpha);
  });
}

// REQUIRES: 0 < p <= 0.5.
double draw_binomial(Stream& stream, double n, double p) {
  if (n * p < 10) {  // geometric numbers of trials, each up to a success
    const double log_failure = std::log1p(-p);
    const auto up_to_success = [=](double u) {
      return std::floor(std::log(1 - u) / log_failure) + 1;
    };
    double k = 0;
    for (double trials = 0; trials <= n;) {
      const auto [first, second] = stream.next();
      const double once = trials + up_to_success(first);
      trials = once + up_to_success(second);
      k += static_cast<double>((once <= n) + (trials <= n));
    }
    return k;
  }
  const double deviation = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((n + 1) * p);
  const double at_mode = log_factorial(mode) + log_factorial(n - mode);
  return rejected(stream, a, b, n * p + 0.5, 0.92 - 4.2 / b, n, [=](double k) {
    return at_mode - log_factorial(k) - log_factorial(n - k) + (k - mode) * std::log(p / (1 - p)) -
           std::log(alpha);
  });
}

double draw_successes(Stream& stream, double n, double p) {
  if (std::isnan(n) || std::isnan(p)) return NAN;
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1 || std::isinf(n)) return n;
  return p > 0.5 ? n - draw_binomial(stream, n, 1 - p) : draw_binomial(stream, n, p);
}

// draw(stream, i) for each element of `out`, brought to the device and dtype of `like`.
template <class Draw>
Tensor counts(const Tensor& out, const Tensor& like, const std::optional<Generator>& generator,
              Draw draw) {
  constexpr int64_t kPiece = 1024, kAhead = philox::kElementsPerBlock;
  const int64_t n = out.numel();
  // A block for the key, and one for each element.
  PhiloxState state = raw::take(generator, like.device(), kAhead * (n + 1));
  const uint64_t key = philox::words(state.seed, state.offset++, 0).joined();
  const Tensor uniform = raw::empty({kAhead * std::min(n, kPiece)}, kDouble, kCPU);
  const double* const ahead = uniform.data_ptr<double>();
  double* const to = out.data_ptr<double>();
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t some = std::min(n - begin, kPiece);
    backend(uniform).random(Distribution::uniform, 0, 1, state,
                            raw::narrow(uniform, 0, 0, kAhead * some));
    state.offset += static_cast<uint64_t>(some);
    for (int64_t i = 0; i < some; ++i) {
      Stream stream(ahead + kAhead * i, key, begin + i);
      to[begin + i] = draw(stream, begin + i);
    }
  }
  return raw::to(raw::to(out, like.dtype()), like.device());
}

Tensor on_cpu(const Tensor& x, IntArrayRef sizes) {
  return raw::contiguous(raw::expand(raw::to(raw::to(x, kCPU), kDouble), sizes));
}

}  // namespace

Tensor poisson(const Tensor& self, std::optional<Generator> generator) {
  check<TypeError>(self.is_floating_point(), "poisson: the rates have dtype ", self.scalar_type(),
                   ", expected a floating point one");
  const Tensor rates = on_cpu(self, self.sizes());
  const double* rate = rates.data_ptr<double>();
  for (int64_t i = 0; i < rates.numel(); ++i)
    check(rate[i] >= 0 && std::isfinite(rate[i]),
          "poisson: invalid Poisson rate, expected rate to be non-negative: element ", i, " is ",
          rate[i]);
  Tensor out = counts(raw::empty(self.sizes(), kDouble, kCPU), self, generator,
                      [&](Stream& stream, int64_t i) { return draw_poisson(stream, rate[i]); });
  if (recording(self))
    record("PoissonBackward0", out, {self}, {},
           [](Node&, const Tensor& grad) { return Tensors{zeros_like(grad)}; });
  return out;
}

Tensor binomial(const Tensor& count, const Tensor& prob, std::optional<Generator> generator) {
  check<TypeError>(count.is_floating_point(), "binomial: count has dtype ", count.scalar_type(),
                   ", expected a floating point one");
  check<TypeError>(prob.dtype() == count.dtype(), "binomial: prob has dtype ", prob.dtype(),
                   ", count ", count.dtype(), "; convert one with .to(...)");
  raw::check_same_device("binomial", count, "count", prob, "prob");
  const Dims sizes = broadcast_shapes("binomial", count.sizes(), prob.sizes());
  const Tensor trials = on_cpu(count, sizes), chances = on_cpu(prob, sizes);
  const double *n = trials.data_ptr<double>(), *p = chances.data_ptr<double>();
  Tensor out =
      counts(raw::empty(sizes, kDouble, kCPU), count, generator,
             [&](Stream& stream, int64_t i) { return draw_successes(stream, n[i], p[i]); });
  if (recording(count, prob))
    record("BinomialBackward0", out, {count, prob}, {},
           [](Node&, const Tensor& grad) { return Tensors(2, zeros_like(grad)); });
  return out;
}

}  // namespace gradus
