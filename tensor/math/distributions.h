// Random elements: each a formula of the bits that philox.h gives it, for host and device. Results
// that are computed in float are within the errors that tests/cpu/random_test.cpp states, and so
// the same on every device up to these. `uniform`, `bernoulli` and `randint` give the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/tensor/base/scalar.h"
#include "gradus/tensor/math/philox.h"
#include "gradus/tensor/math/remainder.h"
#include "gradus/tensor/math/rounding.h"
#include "gradus/tensor/table/dispatch.h"
#include "gradus/tensor/table/ops.h"

namespace gradus::draw {
inline namespace GRADUS_VARIANT {

using philox::SharedWords;
using philox::Word;
using philox::Words;

// The bits that an element is made of where it is computed in T.
template <class T>
using BitsOf = std::conditional_t<std::is_same_v<T, double>, Words, Word>;

// log(x), or log(1 + rest) where x lies so far above sqrt(1/2) that more is known of x - 1.
template <class T>
GRADUS_HD T log_of(T x, bool near_one, T rest) {
  const auto [k, f] = math::factors<false>(x);
  return math::log_of(math::Factors<T>{near_one ? T(0) : k, near_one ? rest : f});
}

// sin and cos of r, |r| <= pi / 4, of which no more is known than r.
template <class T>
struct Direction {
  T sine, cosine;
};
template <class T>
GRADUS_HD Direction<T> direction(T r) {
  const T z = r * r;
  return {math::multiply_add(r * z, math::sin_series(z), r),
          math::multiply_add(z, math::multiply_add(z, math::cos_series(z), T(-0.5)), T(1))};
}

// cos of 2 pi turn / 2^32, with the quarters of a turn taken off as integers.
template <class T>
GRADUS_HD T cos_of_turn(uint32_t turn) {
  const auto [sine, cosine] =
      direction(static_cast<T>(static_cast<int32_t>(turn << 2)) * T(0x1.921fb54442d18p-32));
  const uint32_t quarters = turn + (1u << 29);
  const T y = quarters & (1u << 30) ? sine : cosine;
  return (quarters + (1u << 30)) & (1u << 31) ? -y : y;
}

// Box and Muller, "A note on the generation of random normal deviates" (1958). The logarithm of a
// number in (0, 1] gives a distance, up to 6.66. Another number gives a turn. The cosine of the
// turn makes one element and its sine a second, which only floats use.
template <class T>
GRADUS_HD T normal_of(Words w) {
  const uint32_t place = w.high + 1;              // over 2^32, which becomes 0
  const auto rest = static_cast<int32_t>(place);  // place - 2^32 above one half
  const T log = log_of(static_cast<T>(place) * T(0x1p-32), w.high >= 0xB504F334,  // sqrt(1/2)
                       static_cast<T>(rest) * T(0x1p-32));
  return std::sqrt(-2 * log) * cos_of_turn<T>(w.low);
}
GRADUS_HD inline double standard_normal(Words w) { return normal_of<double>(w); }
GRADUS_HD inline float standard_normal(SharedWords w) {
  return normal_of<float>({w.high, w.low - (uint32_t{w.second} << 30)});
}

// -log(1 - u) for the u of 53 bits that philox::unit gives.
GRADUS_HD inline double standard_exponential(Words w) {
  const bool small = w.high < 0x4AFB0CCC;  // 1 - sqrt(1/2)
  const uint32_t flip = small ? 0 : ~0u, high = w.high ^ flip, low = w.low ^ flip;
  const auto first = static_cast<int32_t>(high >> 8);  // 24 bits, and the other 29
  const auto last = static_cast<int32_t>(((high & 0xff) << 21 | low >> 11) + (flip & 1));
  const double c = first * 0x1p-24 + last * 0x1p-53;
  return 0 - log_of(c, small, -c);
}
// The same for u = (bits + 1/2) / 2^32: from 2^-33 to 22.9, and never 0.
GRADUS_HD inline float standard_exponential(Word w) {
  const bool small = w.bits < 0x4AFB0CCC;
  const uint32_t high = w.bits ^ (small ? 0 : ~0u);
  const auto first = static_cast<int32_t>(high >> 8);  // 24 bits, and the other 9
  const auto last = static_cast<int32_t>((high & 0xff) << 1 | 1);
  const float c =
      math::multiply_add(static_cast<float>(last), 0x1p-33f, static_cast<float>(first) * 0x1p-24f);
  return 0 - log_of(c, small, -c);
}

// tan(pi (u - 1/2)). `turn`, not 0, is u - 1/2 where that lies within 1/4 of 0; otherwise it is
// what is left when the nearest half is taken off. `first` holds the first bits of u.
template <class T>
GRADUS_HD T cauchy_of(T turn, uint32_t first) {
  const auto [sine, cosine] = direction(turn * T(3.141592653589793));
  const bool central = (first + (1u << 30)) & (1u << 31);
  return (central ? sine : -cosine) / (central ? cosine : sine);
}
// u has 53 bits, the last of which is set.
GRADUS_HD inline double standard_cauchy(Words w) {
  return cauchy_of(
      static_cast<int32_t>(w.high << 1) * 0x1p-33 + static_cast<int32_t>(w.low >> 11 | 1) * 0x1p-53,
      w.high);
}
// u has 33 bits, the last of which is set.
GRADUS_HD inline float standard_cauchy(Word w) {
  return cauchy_of(static_cast<float>(static_cast<int32_t>(w.bits << 1 | 1)) * 0x1p-33f, w.bits);
}

// Whether u, of 32 bits, is less than p.
class Chance {
 public:
  // REQUIRES: 0 <= p <= 1.
  explicit Chance(double p) : below_(static_cast<uint64_t>(std::ceil(p * 0x1p32))) {}
  GRADUS_HD bool operator()(Word w) const { return w.bits < below_; }

 private:
  uint64_t below_;
};

// The next number below x.
template <class S>
S before(S x) {
  if constexpr (HalfType<S>)
    x.bits = static_cast<uint16_t>(x == 0 ? 0x8001 : x > 0 ? x.bits - 1 : x.bits + 1);
  else
    x = std::nextafter(x, -std::numeric_limits<S>::infinity());
  return x;
}

// The first and the last integer of [low, end) that an S near them is not outside of.
template <class S>
std::pair<int64_t, int64_t> range_in(int64_t low, int64_t end) {
  int64_t last = end - 1;
  if constexpr (!std::numeric_limits<S>::is_integer) {
    const S first = static_cast<S>(low), most = static_cast<S>(last);
    if (static_cast<double>(first) < static_cast<double>(low))
      low = static_cast<int64_t>(-before(-first));
    if (static_cast<double>(most) >= static_cast<double>(end))
      last = static_cast<int64_t>(before(most));
  }
  return {low, std::max(low, last)};
}

// --- The distributions, by what Backend::random calls a and b. Each says what bits it is made of.
template <class T>
struct Uniform {
  using Bits = BitsOf<T>;
  T a, b;
  T reached;      // what an element would round up to b
  uint32_t mask;  // the bits of a draw that an element has a place for
  GRADUS_HD T operator()(Bits bits) const {
    if constexpr (std::is_same_v<T, float>) bits.bits &= mask;
    const T x = multiply_then_add(b - a, philox::unit(bits), a);
    return x < reached ? x : a;
  }
};
// a and b, converted as elements of type S are.
template <class T, class S>
Uniform<T> uniform(S a, S b) {
  Uniform<T> out{static_cast<T>(a), static_cast<T>(b), static_cast<T>(b), ~uint32_t{0}};
  if constexpr (HalfType<S>) {
    out.reached = static_cast<T>(before(b)) / 2 + out.b / 2;
    out.mask <<= 32 - std::numeric_limits<S>::digits;
  }
  return out;
}
template <class T>
struct Normal {
  using Bits = std::conditional_t<std::is_same_v<T, double>, Words, SharedWords>;
  T mean, deviation;
  GRADUS_HD T operator()(Bits w) const {
    return math::multiply_add(deviation, standard_normal(w), mean);
  }
};
template <class T>
struct LogNormal {
  using Bits = typename Normal<T>::Bits;
  Normal<T> log;
  GRADUS_HD T operator()(Bits w) const { return scalar::exp(log(w)); }
};
template <class T>
struct Exponential {
  using Bits = BitsOf<T>;
  T scale;
  GRADUS_HD T operator()(Bits w) const { return scale * standard_exponential(w); }
};
template <class T>
struct Cauchy {
  using Bits = BitsOf<T>;
  T median, sigma;
  GRADUS_HD T operator()(Bits w) const {
    return math::multiply_add(sigma, standard_cauchy(w), median);
  }
};
// How many trials it takes, up to a success.
template <class T>
struct Geometric {
  using Bits = BitsOf<T>;
  T scale;
  GRADUS_HD T operator()(Bits w) const { return std::floor(scale * standard_exponential(w)) + 1; }
};
template <class T>
struct Bernoulli {
  using Bits = Word;
  Chance chance;
  GRADUS_HD T operator()(Bits w) const { return chance(w) ? T(1) : T(0); }
};
template <class T>
struct Integer {  // in [low, low + count), which may be wider than an int64 counts
  using Bits = Words;
  uint64_t low;
  Remainder within;
  GRADUS_HD T operator()(Bits w) const {
    return static_cast<T>(static_cast<int64_t>(low + within(w.joined())));
  }
};

// --- Distributions that depend on an element x
template <class T>
struct BernoulliOf {
  using Bits = Word;
  GRADUS_HD T operator()(Bits w, T p) const {
    return w.bits * 0x1p-32 < static_cast<double>(p) ? T(1) : T(0);
  }
};
template <class T>
struct Dropout {
  using Bits = Word;
  Chance dropped;
  T scale;
  GRADUS_HD T operator()(Bits w, T x) const { return x * (dropped(w) ? T(0) : scale); }
};

// 1 / x, or as good as infinity: its product with 0 is 0.
template <class T>
T finite_reciprocal(double x) {
  return static_cast<T>(std::min(1 / x, static_cast<double>(std::numeric_limits<T>::max())));
}

// Calls f(formula), which computes in the type that numbers of `dtype` are computed in, or in
// double for counts of an integer type. Errors: TypeError where the distribution has no such
// numbers.
template <class F>
void visit(Distribution kind, const Scalar& a, const Scalar& b, ScalarType dtype, F&& f) {
  const ScalarType computed = computed_type(dtype);
  const auto real = [&](const char* name, auto g) { visit_floating(name, computed, g); };
  const auto any = [&](const char* name, auto g) { visit_numbers(name, computed, g); };
  switch (kind) {
    case Distribution::uniform:
      return real("uniform", [&]<class T>(TypeTag<T>) {
        f(visit(dtype, [&]<class S>(TypeTag<S>) { return uniform<T>(a.cast<S>(), b.cast<S>()); }));
      });
    case Distribution::normal:
      return real("normal", [&]<class T>(TypeTag<T>) { f(Normal<T>{a.cast<T>(), b.cast<T>()}); });
    case Distribution::log_normal:
      return real("log_normal", [&]<class T>(TypeTag<T>) {
        f(LogNormal<T>{{a.cast<T>(), b.cast<T>()}});
      });
    case Distribution::exponential:
      return real("exponential", [&]<class T>(TypeTag<T>) {
        f(Exponential<T>{finite_reciprocal<T>(a.cast<double>())});
      });
    case Distribution::cauchy:
      return real("cauchy", [&]<class T>(TypeTag<T>) { f(Cauchy<T>{a.cast<T>(), b.cast<T>()}); });
    case Distribution::geometric:
      return visit_floating("geometric", isFloatingType(dtype) ? computed : kDouble,
                            [&]<class T>(TypeTag<T>) {
                              f(Geometric<T>{finite_reciprocal<T>(-std::log1p(-a.cast<double>()))});
                            });
    case Distribution::bernoulli:
      return any("bernoulli",
                 [&]<class T>(TypeTag<T>) { f(Bernoulli<T>{Chance(a.cast<double>())}); });
    case Distribution::randint:
      return any("randint", [&]<class T>(TypeTag<T>) {
        const auto [first, last] = visit(dtype, [&]<class S>(TypeTag<S>) {
          return range_in<S>(a.cast<int64_t>(), b.cast<int64_t>());
        });
        const auto low = static_cast<uint64_t>(first);
        f(Integer<T>{low, Remainder(static_cast<uint64_t>(last) + 1 - low)});
      });
  }
}

template <class F>
void visit(RandomMap op, double number, ScalarType dtype, F&& f) {
  const char* const name = op == RandomMap::bernoulli ? "bernoulli" : "dropout";
  visit_floating(name, computed_type(dtype), [&]<class T>(TypeTag<T>) {
    if (op == RandomMap::bernoulli)
      f(BernoulliOf<T>{});
    else
      f(Dropout<T>{Chance(number), static_cast<T>(1 / (1 - number))});
  });
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::draw
