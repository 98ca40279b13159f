// The functions whose gradients task 2.6 checks, right and wrong.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "core/autodiff.h"

namespace functions {

using Values = std::vector<double>;

inline double sum(const Values& x, double (*f)(double)) {
  double out = 0;
  for (const double each : x) out += f(each);
  return out;
}

inline Values each(const Values& x, double (*f)(double)) {
  Values out;
  for (const double value : x) out.push_back(f(value));
  return out;
}

inline double plain_sum(const Values& x) {
  return sum(x, [](double v) { return v; });
}
inline double cubes(const Values& x) {
  return sum(x, [](double v) { return v * v * v; });
}
inline double product(const Values& x) {
  double out = 1;
  for (const double each : x) out *= each;
  return out;
}
inline Values of_cubes(const Values& x) {
  return each(x, [](double v) { return 3 * v * v; });
}
inline Values of_product(const Values& x, double factor) {
  Values out;
  for (size_t i = 0; i < x.size(); ++i) {
    Values rest = x;
    rest[i] = factor;
    out.push_back(product(rest));
  }
  return out;
}
// The gradient of the cubes with the element `at` multiplied by `factor`.
inline Values of_cubes_but(const Values& x, size_t at, double factor) {
  Values out = of_cubes(x);
  if (at < out.size()) out[at] *= factor;
  return out;
}

// By name. The right ones are named "right: ...".
inline const std::map<std::string, course::Function>& all() {
  static const std::map<std::string, course::Function> table = {
      {"right: cubes", {cubes, of_cubes}},
      {"right: sines", {[](const Values& x) { return sum(x, std::sin); }, [](const Values& x) { return each(x, std::cos); }}},
      {"right: product", {product, [](const Values& x) { return of_product(x, 1); }}},
      {"right: curved", {[](const Values& x) { return 1000 * sum(x, std::cosh); },
                         [](const Values& x) { return each(x, [](double v) { return 1000 * std::sinh(v); }); }}},
      {"right: steep", {[](const Values& x) { return 1e12 * product(x); },
                        [](const Values& x) { return of_product(x, 1e12); }}},
      {"right: constant", {[](const Values&) { return 7.0; }, [](const Values& x) { return Values(x.size(), 0.0); }}},
      {"right: float32", {[](const Values& x) {
                            float out = 0;
                            for (const double v : x) out += static_cast<float>(v) * static_cast<float>(v);
                            return static_cast<double>(out);
                          },
                          [](const Values& x) { return each(x, [](double v) { return 2 * v; }); }}},
      {"wrong: a factor", {cubes, [](const Values& x) { return each(x, [](double v) { return v * v; }); }}},
      {"wrong: a sign", {[](const Values& x) { return sum(x, std::cos); }, [](const Values& x) { return each(x, std::sin); }}},
      {"wrong: the elements exchanged", {cubes, [](const Values& x) {
                                           Values out = of_cubes(x);
                                           return Values(out.rbegin(), out.rend());
                                         }}},
      {"wrong: a constant", {cubes, [](const Values& x) { return Values(x.size(), 0.0); }}},
      {"wrong: the first element", {cubes, [](const Values& x) { return of_cubes_but(x, 0, 1.01); }}},
      {"wrong: the second element", {cubes, [](const Values& x) { return of_cubes_but(x, 1, 1.01); }}},
      {"wrong: the last element", {cubes, [](const Values& x) { return of_cubes_but(x, x.size() - 1, 1.01); }}},
      {"wrong: too large", {cubes, [](const Values& x) { return of_cubes_but(x, 0, 1.01); }}},
      {"wrong: too small", {cubes, [](const Values& x) { return of_cubes_but(x, 0, 0.99); }}},
      {"wrong: steep", {[](const Values& x) { return 1e12 * product(x); },
                        [](const Values& x) { return of_product(x, 1.01e12); }}},
      {"wrong: not a number", {cubes, [](const Values& x) {
                                 return of_cubes_but(x, 0, std::numeric_limits<double>::quiet_NaN());
                               }}},
      {"wrong: the last no number", {cubes, [](const Values& x) {
                                       return of_cubes_but(x, x.size() - 1, std::numeric_limits<double>::quiet_NaN());
                                     }}},
      {"wrong: infinite", {cubes, [](const Values& x) {
                             return of_cubes_but(x, 0, std::numeric_limits<double>::infinity());
                           }}},
      // NaN where an element is below 0.
      {"wrong: roots", {[](const Values& x) { return sum(x, std::sqrt); },
                        [](const Values& x) { return Values(x.size(), 1.0); }}},
      // Slopes 1 and -4, of which they say 1.25 and -8.
      {"wrong: sum", {plain_sum, [](const Values& x) { return Values(x.size(), 1.25); }}},
      {"wrong: falling", {[](const Values& x) { return -4 * plain_sum(x); },
                          [](const Values& x) { return Values(x.size(), -8.0); }}},
      // By 3/16, which float32 and float64 hold exactly.
      {"wrong: constant", {[](const Values&) { return 7.0; }, [](const Values& x) { return Values(x.size(), 0.1875); }}},
      {"wrong: too few", {cubes, [](const Values& x) { return of_cubes({x.begin(), x.end() - 1}); }}},
      {"wrong: too many", {cubes, [](const Values& x) {
                             Values out = of_cubes(x);
                             out.push_back(0);
                             return out;
                           }}},
  };
  return table;
}

}  // namespace functions
