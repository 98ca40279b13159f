// The loops of LSTM units of each instruction set beside the formulas in float64.
#include "gradus/cpu/simd/cell_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/random.h"

namespace gradus::test {
namespace {

// One row of units, and what the loops make of it.
template <class T>
struct Units {
  explicit Units(size_t count)
      : x(4 * count),
        s(4 * count),
        c_prev(count),
        gates(4 * count),
        c(count),
        h(count),
        grad_h(count),
        grad_c(count),
        grad_x(4 * count) {}
  Units(const std::vector<double>& sums, const std::vector<double>& states) : Units(states.size()) {
    std::copy(sums.begin(), sums.end(), x.begin());
    std::copy(states.begin(), states.end(), c_prev.begin());
    // A half of each sum: both additions are exact.
    for (size_t i = 0; i < x.size(); ++i) x[i] /= 2, s[i] = x[i];
    for (size_t i = 0; i < c.size(); ++i) grad_h[i] = c_prev[c.size() - 1 - i], grad_c[i] = 1;
  }
  // The first `count` units.
  void forward(const cpu::CellLoops<T>& loops, int64_t count) {
    loops.lstm(count, size(), x.data(), s.data(), c_prev.data(), gates.data(), c.data(), h.data());
  }
  void backward(const cpu::CellLoops<T>& loops, int64_t count) {
    loops.lstm_grad(count, size(), grad_h.data(), c_prev.data(), gates.data(), c.data(),
                    grad_c.data(), grad_x.data());
  }
  int64_t size() const { return static_cast<int64_t>(c.size()); }

  std::vector<T> x, s, c_prev, gates, c, h, grad_h, grad_c, grad_x;
};

// Three units of the last place of a float, of a number or of the largest term of its sum.
void expect_close(const std::vector<float>& x, const std::vector<double>& exact, double term) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(exact[i])) {
      EXPECT_TRUE(std::isnan(x[i])) << i << ": " << x[i];
    } else {
      EXPECT_NEAR(x[i], exact[i], 3.6e-7 * std::max(std::abs(exact[i]), term)) << i;
    }
  }
}

void check_units(const std::vector<double>& sums, const std::vector<double>& states,
                 int64_t count) {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    SCOPED_TRACE(static_cast<int>(set));
    Units<float> made(sums, states);
    Units<double> exact(sums, states);
    const auto& floats = cpu::table_of<cpu::CellLoops<float>>(set);
    const auto& doubles = cpu::table_of<cpu::CellLoops<double>>(set);
    made.forward(floats, count), exact.forward(doubles, count);
    constexpr double kLeast = 1e-38;  // about the least normal float
    const double largest =
        1 + std::abs(*std::max_element(states.begin(), states.end(), [](double a, double b) {
          return std::abs(a) < std::abs(b);
        }));
    expect_close(made.gates, exact.gates, kLeast);
    expect_close(made.c, exact.c, largest);
    expect_close(made.h, exact.h, largest);
    // The gradient of the same numbers.
    std::copy(made.gates.begin(), made.gates.end(), exact.gates.begin());
    std::copy(made.c.begin(), made.c.end(), exact.c.begin());
    made.backward(floats, count), exact.backward(doubles, count);
    expect_close(made.grad_x, exact.grad_x, largest * largest);
    expect_close(made.grad_c, exact.grad_c, largest * largest);
  }
}

TEST(CpuCells, EachSetComputesUnitsOfAnLSTM) {
  for (const int64_t units : {1, 5, 15, 16, 17, 40, 100}) {
    std::vector<double> sums(static_cast<size_t>(4 * units)), states(static_cast<size_t>(units));
    for (double& sum : sums) sum = static_cast<double>(pick(-9000, 9000)) / 1024;
    for (double& state : states) state = static_cast<double>(pick(-2000, 2000)) / 1024;
    check_units(sums, states, units);
    check_units(sums, states, pick(1, units));  // the others stay 0
  }
}

// Some lanes of a vector are beyond what a table reaches, the others are not.
TEST(CpuCells, SumsBeyondTheTables) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double sum : {86., -86., 87., -87., 88., -88., 95., -95., 110., -110., 1e6, -1e6,
                           kInfinity, -kInfinity, std::nan("")})
    for (const size_t gate : {0, 1, 2, 3}) {
      std::vector<double> sums(4 * 20, 0.5), states(20, 0.75);
      sums[gate * 20 + 3] = sums[gate * 20 + 18] = sum;
      check_units(sums, states, 20);
    }
}

}  // namespace
}  // namespace gradus::test
