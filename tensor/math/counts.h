// Draws of counts by their rates or probabilities, for host and device. A count takes as many
// random numbers as it happens to need, and no element changes those of another.
#pragma once

#include <cmath>

#include "gradus/tensor/math/bits.h"
#include "gradus/tensor/math/philox.h"
#include "gradus/tensor/table/ops.h"

namespace gradus::counts {

struct Pair {
  double first, second;
};
GRADUS_HD inline Pair pair_of(const philox::Block& block) {
  return {philox::unit(philox::Words::of(block, 0)), philox::unit(philox::Words::of(block, 1))};
}

// The uniform numbers of one element, two by two. The first two are those of block `element` of the
// draw; the others are drawn with another key.
class UniformPairs {
 public:
  GRADUS_HD UniformPairs(Pair first, uint64_t key, int64_t element)
      : first_(first), key_(key), place_(static_cast<uint64_t>(element) << 32) {}

  GRADUS_HD Pair next() {
    const bool begins = !begun_;
    begun_ = true;
    return begins ? first_ : pair_of(philox::block(key_, place_++));
  }

 private:
  Pair first_;
  uint64_t key_, place_;
  bool begun_ = false;
};

// log of the factorial
GRADUS_HD inline double log_factorial(double k) { return std::lgamma(k + 1); }

// The scheme of W. See Hörmann, "The transformed rejection method for generating Poisson random
// variables" (1993) and "The generation of binomial random variates" (1993). An easy distribution
// function about `mode`, of width b, is inverted. The result is accepted with the likelihood of the
// true distribution there. log_odds(k) is the logarithm of the probability of k, over `alpha`.
template <class LogOdds>
GRADUS_HD double rejected(UniformPairs& uniforms, double a, double b, double centre, double quick,
                          double most, const LogOdds& log_odds) {
  for (;;) {
    const auto [first, second] = uniforms.next();
    const double u = first - 0.5, v = 1 - second;
    const double edge = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / edge + b) * u + centre);
    if (edge >= 0.07 && v <= quick) return k;
    if (k < 0 || k > most || (edge < 0.013 && v > edge)) continue;
    if (std::log(v / (a / (edge * edge) + b)) <= log_odds(k)) return k;
  }
}

// NaN for a rate that is negative or not finite.
GRADUS_HD inline double draw_poisson(UniformPairs& uniforms, double rate) {
  if (!(rate >= 0 && rate < math::kInfinity<double>)) return math::kNan<double>;
  // Counts the exponential waits that fit into the rate; their sum is -log(product). Whether the
  // first of two does is no branch to be guessed wrong.
  if (rate < 10) {
    const double enough = std::exp(-rate);
    double k = 0;
    for (double product = 1; product > enough;) {
      const auto [first, second] = uniforms.next();
      const double once = product * (1 - first);
      product = once * (1 - second);
      k += static_cast<double>((once > enough) + (product > enough));
    }
    return k;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double most = math::kInfinity<double>;
  return rejected(uniforms, a, b, rate + 0.43, 0.9277 - 3.6224 / (b - 2), most, [=](double k) {
    return k * std::log(rate) - rate - log_factorial(k) - std::log(alpha);
  });
}

// REQUIRES: 0 < p <= 0.5.
GRADUS_HD inline double draw_binomial(UniformPairs& uniforms, double n, double p) {
  if (n * p < 10) {  // geometric numbers of trials, each up to a success
    const double log_failure = std::log1p(-p);
    const auto up_to_success = [=](double u) {
      return std::floor(std::log(1 - u) / log_failure) + 1;
    };
    double k = 0;
    for (double trials = 0; trials <= n;) {
      const auto [first, second] = uniforms.next();
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
  return rejected(uniforms, a, b, n * p + 0.5, 0.92 - 4.2 / b, n, [=](double k) {
    return at_mode - log_factorial(k) - log_factorial(n - k) + (k - mode) * std::log(p / (1 - p)) -
           std::log(alpha);
  });
}

GRADUS_HD inline double draw_successes(UniformPairs& uniforms, double n, double p) {
  if (n != n || p != p) return math::kNan<double>;
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1 || n == math::kInfinity<double>) return n;
  return p > 0.5 ? n - draw_binomial(uniforms, n, 1 - p) : draw_binomial(uniforms, n, p);
}

// One count, drawn by the numbers of an element.
template <CountOp op, class... Numbers>
GRADUS_HD double draw(UniformPairs& uniforms, Numbers... numbers) {
  if constexpr (op == CountOp::poisson)
    return draw_poisson(uniforms, numbers...);
  else
    return draw_successes(uniforms, numbers...);
}

}  // namespace gradus::counts
