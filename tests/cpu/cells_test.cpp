// The loops of LSTM and GRU units of each instruction set beside the formulas in float64.
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
  // Those of a GRU; c_prev is the state before.
  void forward_gru(const cpu::CellLoops<T>& loops, int64_t count) {
    loops.gru(count, size(), x.data(), s.data(), c_prev.data(), gates.data(), h.data());
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
    Units<float> gru(sums, states);
    Units<double> exact_gru(sums, states);
    gru.forward_gru(floats, count), exact_gru.forward_gru(doubles, count);
    const std::vector<double> exact_gates = exact_gru.gates;
    const auto gates_of_sums = 2 * states.size();
    for (size_t i = 0; i < states.size(); ++i) {
      // The new state's sum may cancel.
      const double term = std::abs(sums[gates_of_sums + i]);
      expect_close({gru.gates[gates_of_sums + i]}, {exact_gates[gates_of_sums + i]}, term);
    }
    std::fill_n(gru.gates.begin() + static_cast<int64_t>(gates_of_sums), states.size(), 0.f);
    std::fill_n(exact_gru.gates.begin() + static_cast<int64_t>(gates_of_sums), states.size(), 0.);
    expect_close(gru.gates, exact_gru.gates, kLeast);
    expect_close(gru.h, exact_gru.h, largest);
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

// A unit has the same bits beside units whose sums are beyond the tables.
TEST(CpuCells, AUnitDoesNotDependOnItsNeighbours) {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    const auto& loops = cpu::table_of<cpu::CellLoops<float>>(set);
    std::vector<double> sums(4 * 20), states(20);
    for (double& sum : sums) sum = static_cast<double>(pick(-9000, 9000)) / 1024;
    for (double& state : states) state = static_cast<double>(pick(-2000, 2000)) / 1024;
    Units<float> lstm(sums, states), gru(sums, states);
    lstm.forward(loops, 20), gru.forward_gru(loops, 20);
    sums[3] = 1e6;
    Units<float> other_lstm(sums, states), other_gru(sums, states);
    other_lstm.forward(loops, 20), other_gru.forward_gru(loops, 20);
    for (size_t i = 0; i < 20; ++i) {
      if (i == 3) continue;
      EXPECT_EQ(lstm.h[i], other_lstm.h[i]) << i;
      EXPECT_EQ(gru.h[i], other_gru.h[i]) << i;
    }
  }
}

}  // namespace
}  // namespace gradus::test
