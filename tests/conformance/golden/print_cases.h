// What tests/tensor/print_test.cpp prints, for both libraries: include it after
// `namespace lib = gradus;` or, in make_print.cpp, `namespace lib = torch;`.
#pragma once

#include <cmath>
#include <iomanip>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace print_cases {

inline lib::Tensor of(const std::vector<double>& values, const std::vector<int64_t>& sizes,
                      lib::ScalarType dtype = lib::kFloat) {
  return lib::tensor(values, lib::kDouble).view(sizes).to(dtype);
}

inline lib::Tensor count(const std::vector<int64_t>& sizes, lib::ScalarType dtype = lib::kLong,
                         double scale = 1, double start = 0) {
  int64_t numel = 1;
  for (int64_t size : sizes) numel *= size;
  std::vector<double> values;
  for (int64_t i = 0; i < numel; ++i) values.push_back((start + static_cast<double>(i)) * scale);
  return of(values, sizes, dtype);
}

// Numbers of many magnitudes: powers of ten times integers or fractions, from bare engine words,
// which are the same with every standard library.
inline lib::Tensor random(unsigned seed) {
  std::mt19937 engine(seed);
  const auto below = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  std::vector<int64_t> sizes;
  for (int rank = 1 + below(4); rank > 0; --rank) sizes.push_back(1 + below(rank == 1 ? 12 : 3));
  int64_t numel = 1;
  for (int64_t size : sizes) numel *= size;
  const int lowest = below(20) - 12, spread = 1 + below(8), special = below(4);
  const bool whole = below(3) == 0;
  std::vector<double> values;
  for (int64_t i = 0; i < numel; ++i) {
    double value = below(20000) - 10000;
    if (whole) value = std::trunc(value / std::pow(10, below(5)));
    if (!whole) value *= std::pow(10, lowest + below(spread)) / 1000;
    if (special == 0 && below(8) == 0) value = below(2) ? std::nan("") : -1.0 / 0.0;
    values.push_back(value);
  }
  return of(values, sizes, below(2) ? lib::kDouble : lib::kFloat);
}

struct Printed {
  std::string name, text;
};

inline std::vector<Printed> printed() {
  std::vector<Printed> out;
  const auto show = [&](const std::string& name, const lib::Tensor& tensor) {
    std::ostringstream stream;
    stream << tensor;
    out.push_back({name, stream.str()});
  };
  const double inf = INFINITY, nan = NAN;
  const auto kLong = lib::kLong, kFloat = lib::kFloat, kDouble = lib::kDouble, kBool = lib::kBool;

  show("undefined", {});
  show("ones", lib::ones({2, 2}));
  show("requires grad", lib::ones({2}, lib::requires_grad()));
  show("result that requires grad", lib::ones({2}, lib::requires_grad()) * 2);

  show("scalar", of({1.5}, {}));
  show("scalar long", of({-3}, {}, kLong));
  show("scalar bool", of({1}, {}, kBool));
  show("scalar double", of({1.0 / 3}, {}, kDouble));
  show("scalar large", of({12345678.9}, {}, kDouble));
  show("scalar large long", of({123456789}, {}, kLong));
  show("scalar huge", of({1e20}, {}, kDouble));
  show("scalar tiny", of({1.25e-7}, {}));
  show("scalar nan", of({nan}, {}));
  show("scalar -inf", of({-inf}, {}));
  show("scalar -0", of({-0.0}, {}));

  show("empty", lib::zeros({0}));
  show("empty 0x3", lib::zeros({0, 3}, kLong));
  show("empty 3x0", lib::zeros({3, 0}));
  show("empty 2x0x3", lib::zeros({2, 0, 3}, kBool));
  show("empty 0x2x3", lib::zeros({0, 2, 3}));
  show("empty 2x3x0", lib::zeros({2, 3, 0}));
  show("empty 1x1x0x1", lib::zeros({1, 1, 0, 1}, kDouble));

  show("vector of whole floats", of({1, 2, 3}, {3}));
  show("vector of fractions", of({1, 2.5, -3}, {3}));
  show("vector of longs", of({1, -22, 333}, {3}, kLong));
  show("vector of bools", of({1, 0}, {2}, kBool));
  show("zeros", lib::zeros({3}));
  show("negative zero", of({-0.0, 0.5}, {2}));
  show("negative zeros", of({-0.0, -0.0}, {2}));
  show("negatives alone", of({-1, -2.5}, {2}));
  show("negative longs", of({-100, -2}, {1, 2}, kLong));

  // The size of the numbers decides between plain, scaled and scientific columns.
  for (int e = -12; e <= 12; ++e) {
    const std::string power = std::to_string(e);
    show("1.5e" + power, of({1.5 * std::pow(10, e), 2.25 * std::pow(10, e)}, {2}, kDouble));
    show("1e" + power + " alone", of({std::pow(10, e)}, {1, 1}, kDouble));
    show("1.5 beside 1.5e" + power, of({1.5, 1.5 * std::pow(10, e)}, {1, 2}, kDouble));
    show("0 beside 1.5e" + power, of({0, -1.5 * std::pow(10, e)}, {1, 2}, kDouble));
    show("1 beside 9.99999e" + power, of({1, 9.9999999 * std::pow(10, e)}, {1, 2}, kDouble));
  }
  for (double exponent :
       {-250., -150., -102., -101., -100., -99., -98., 98., 99., 100., 101., 250.})
    for (int other : {-90, 0, 90})
      show("1.5e" + std::to_string(static_cast<int>(exponent)) + " and " + std::to_string(other),
           of({1.5 * std::pow(10, exponent), 1.5 * std::pow(10, other)}, {2}, kDouble));
  for (double whole : {9., 10., 99., 100., 99999., 100000., 999999., 1000000., 99999999.,
                       999999999., 1e9, 9999999999., 1e10, 1e15, 4e18}) {
    show("whole " + std::to_string(whole), of({whole, 1}, {1, 2}, kDouble));
    show("long " + std::to_string(whole), of({whole, -1}, {1, 2}, kLong));
  }
  show("whole beyond 1e99", of({1e100, 2e200}, {2}, kDouble));
  // Only the first number and the positive ones count for the width.
  show("larger negatives", of({0.5, -1234.5}, {2}));
  show("larger negative first", of({-1234.5, 0.5}, {2}));
  show("larger negative longs", of({5, -1234567}, {1, 2}, kLong));
  show("far larger negatives", of({0.5, -1e8, 2e-3}, {3}));
  show("float range", of({3.4e38, 1e-38}, {2}));
  show("denormal", of({5e-324, 1e-310}, {2}, kDouble));
  show("rounds to five digits", of({9999.99999, 1.5}, {2}, kDouble));

  show("nan", of({nan, 1}, {2}));
  show("nan and infinities", of({nan, 1.5, inf, -inf}, {2, 2}));
  show("nothing finite", of({nan, inf, -inf}, {3}));
  show("nan beside large", of({nan, 1e10}, {2}));
  show("inf beside scaled", of({inf, 0.001}, {2}));
  show("inf beside longs", of({-inf, 1234}, {1, 2}));

  show("matrix", count({2, 3}, kFloat));
  show("column", count({5, 1}));
  show("transposed", count({2, 3}).t());
  show("expanded", lib::ones({1}).expand({2, 3}));
  show("narrowed", count({4, 5}).narrow(1, 1, 2));
  show("selected", count({4, 5}).select(1, 3));
  show("three dimensions", count({2, 2, 3}, kFloat));
  show("three dimensions of longs", count({3, 1, 4}));
  show("three dimensions of bools", of({1, 0, 0, 1}, {1, 2, 2}, kBool));
  show("three dimensions, scaled", of({0.001, 0.002, 3000, 4e6}, {2, 1, 2}));
  show("three dimensions, permuted", count({2, 3, 2}).permute({2, 0, 1}));
  show("four dimensions", count({2, 2, 2, 2}, kFloat, 0.1));
  show("four dimensions, uneven", count({3, 1, 1, 2}));
  show("five dimensions", count({2, 1, 2, 1, 2}));
  show("one element in three dimensions", lib::ones({1, 1, 1}));
  show("fractions, then whole", of({0.5, 1, 123456, 1}, {2, 1, 2}));
  show("scientific, then whole", of({1e-9, 1, 123456, 1}, {2, 1, 2}));
  show("fractions, then scaled", of({0.5, 1, 0.00123, 0.002}, {2, 1, 2}));
  show("matrices with widths of their own", of({1, 2, 30000, 4}, {2, 1, 2}, kLong));

  show("wide whole", count({2, 30}, kFloat));
  show("wide fractions", count({2, 30}, kFloat, 1.0 / 7));
  show("wide scaled", count({2, 30}, kFloat, 1.0 / 70000));
  show("wide scientific", count({2, 30}, kDouble, 1e8, 0.25));
  show("wide in three dimensions", count({2, 2, 30}, kFloat, 1.0 / 7));
  show("wide scaled in three dimensions", count({2, 2, 30}, kFloat, 1e-7));
  show("wide row", count({1, 100}));
  for (int64_t columns : {19, 20, 21, 26, 27, 28, 39, 40, 41})
    for (double start : {0., 50., 950.}) {
      const std::string name = std::to_string(columns) + " columns from " + std::to_string(start);
      show(name, count({1, columns}, kLong, 1, start));
      show(name + " in three dimensions", count({1, 1, columns}, kLong, 1, start));
    }

  for (unsigned seed = 0; seed < 80; ++seed) show("random " + std::to_string(seed), random(seed));

  // The stream's own settings show through in part, and are the same afterwards.
  const auto with = [&](const std::string& name, auto set) {
    std::ostringstream stream;
    set(stream);
    stream << of({1.0 / 3, 2}, {2}, kDouble) << '\n' << of({1.0 / 3}, {}, kDouble) << '\n';
    set(stream);
    stream << of({0.00123456, 0.002}, {2}, kDouble) << '\n' << of({1e8, 255}, {2}, kLong) << '\n';
    set(stream);
    stream << of({255}, {}, kLong) << '\n' << 1.0 / 3 << ' ' << 255 << ' ' << 1e7;
    out.push_back({name, stream.str()});
  };
  with("plain stream", [](std::ostream&) {});
  with("precision 2", [](std::ostream& s) { s << std::setprecision(2); });
  with("precision 10", [](std::ostream& s) { s << std::setprecision(10); });
  with("fixed", [](std::ostream& s) { s << std::fixed; });
  with("scientific", [](std::ostream& s) { s << std::scientific << std::setprecision(3); });
  with("hexadecimal", [](std::ostream& s) { s << std::hex << std::showbase; });
  with("fill", [](std::ostream& s) { s << std::setfill('*') << std::setw(20); });
  with("left", [](std::ostream& s) { s << std::left << std::setfill('.'); });
  with("showpos", [](std::ostream& s) { s << std::showpos; });
  with("uppercase", [](std::ostream& s) { s << std::uppercase; });
  return out;
}

}  // namespace print_cases
