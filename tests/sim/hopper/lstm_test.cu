// The steps of an LSTM by clusters on the simulator: against float64 with PyTorch's formula.
#include <string>
#include <vector>

#include "gradus/cuda/kernels/hopper/lstm_clusters.cuh"
#include "gradus/gradus.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimLstmTest = SimTest;

struct LstmCase {
  int64_t steps, batch;
  bool reverse;
  bool has_bias = true, has_grad_states = true, has_grad_cells = true;
};
std::string text_of(const LstmCase& of, int64_t units) {
  return std::to_string(units) + " units, " + std::to_string(of.steps) + " steps of " +
         std::to_string(of.batch) + (of.reverse ? ", reverse" : "");
}

template <class T>
T* at(const Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}
double error_of_lstm(const Tensor& got, const Tensor& expected) {
  const Tensor exact = expected.detach().to(kDouble);
  return ((got.cpu().to(kDouble) - exact).norm() / exact.norm()).item<double>();
}

// States and cells (steps batch, units) of x (steps batch, 4 units), by functions of tensors.
struct LstmStates {
  Tensor states, cells;
};
LstmStates lstm_by_formula(const LstmCase& of, const Tensor& x, Tensor h, Tensor c,
                           const Tensor& weight, const Tensor& bias) {
  std::vector<Tensor> states(static_cast<size_t>(of.steps)), cells = states;
  for (int64_t i = 0; i < of.steps; ++i) {
    const int64_t t = of.reverse ? of.steps - 1 - i : i;
    Tensor sums = x.narrow(0, t * of.batch, of.batch) + h.matmul(weight.t());
    if (bias.defined()) sums = sums + bias;
    const std::vector<Tensor> gates = sums.chunk(4, 1);
    c = gates[1].sigmoid() * c + gates[0].sigmoid() * gates[2].tanh();
    h = gates[3].sigmoid() * c.tanh();
    states[static_cast<size_t>(t)] = h, cells[static_cast<size_t>(t)] = c;
  }
  return {cat(states), cat(cells)};
}

// Runs both kernels and compares all that they make. Weights are so large that gates are not alike.
template <class T, int kBlocks, int kTiles>
void expect_lstm(const LstmCase& of, double allowed) {
  using Tile = cuda::LstmTile<T, kBlocks, kTiles>;
  const int64_t units = Tile::kUnits, rows = of.steps * of.batch;
  const ScalarType dtype = std::is_same_v<T, Half> ? kHalf : kBFloat16;
  const std::string what = text_of(of, units);
  const auto made = [&](IntArrayRef shape, double scale = 1) {
    return (randn(shape) * scale).to(dtype).to(kDouble);
  };
  const Tensor x = made({rows, 4 * units}).set_requires_grad(true),
               h = made({of.batch, units}).set_requires_grad(true),
               c = made({of.batch, units}).set_requires_grad(true);
  const Tensor weight = made({4 * units, units}, 0.08),
               bias = of.has_bias ? made({4 * units}, 0.5) : Tensor();
  const auto there = [&](const Tensor& each) {
    return each.defined() ? each.detach().to(dtype).cuda() : each;
  };
  const auto place = [&](int64_t height, int64_t width) {
    return empty({height, width}, TensorOptions(dtype).device(kCUDA));
  };
  const unsigned clusters = static_cast<unsigned>((of.batch + Tile::kRows - 1) / Tile::kRows);

  const Tensor on_x = there(x), on_h = there(h), on_c = there(c), on_weight = there(weight),
               on_bias = there(bias), gates = place(rows, 4 * units), cells = place(rows, units),
               states = place(rows, units);
  const cuda::LstmSteps<T> args = {static_cast<int>(of.steps),
                                   static_cast<int>(of.batch),
                                   of.reverse,
                                   at<T>(on_x),
                                   at<T>(on_h),
                                   at<T>(on_c),
                                   at<T>(on_weight),
                                   at<T>(on_bias),
                                   at<T>(gates),
                                   at<T>(cells),
                                   at<T>(states)};
  launch(cuda::lstm_clusters<T, kBlocks, kTiles>,
         {kBlocks * clusters, Tile::kThreads, Tile::kSharedBytes}, args);
  const LstmStates expected = lstm_by_formula(of, x, h, c, weight, bias);
  EXPECT_LE(error_of_lstm(states, expected.states), allowed) << what;
  EXPECT_LE(error_of_lstm(cells, expected.cells), allowed) << what;

  const Tensor grad_states = of.has_grad_states ? made({rows, units}) : Tensor(),
               grad_cells = of.has_grad_cells ? made({rows, units}) : Tensor();
  const Tensor on_grad_states = there(grad_states), on_grad_cells = there(grad_cells),
               grad_x = place(rows, 4 * units), grad_h = place(of.batch, units),
               grad_c = place(of.batch, units);
  const cuda::LstmStepsGrad<T> grad_args = {static_cast<int>(of.steps),
                                            static_cast<int>(of.batch),
                                            of.reverse,
                                            at<T>(on_grad_states),
                                            at<T>(on_grad_cells),
                                            at<T>(on_c),
                                            at<T>(on_weight),
                                            at<T>(gates),
                                            at<T>(cells),
                                            at<T>(grad_x),
                                            at<T>(grad_h),
                                            at<T>(grad_c)};
  launch(cuda::lstm_clusters_grad<T, kBlocks, kTiles>,
         {kBlocks * clusters, Tile::kThreads, Tile::kSharedBytesOfGrad}, grad_args);
  Tensor total = zeros({}, kDouble);
  if (of.has_grad_states) total = total + (expected.states * grad_states).sum();
  if (of.has_grad_cells) total = total + (expected.cells * grad_cells).sum();
  const std::vector<Tensor> grads = autograd::grad({total}, {x, h, c});
  const Tensor got[] = {grad_x, grad_h, grad_c};
  for (size_t i = 0; i < 3; ++i)
    EXPECT_LE(error_of_lstm(got[i], grads[i]), 2 * allowed) << what << ", gradient " << i;
}

constexpr double kOfBrain = 6e-3, kOfHalf = 8e-4;  // a rounding of a state in each step

TEST_F(SimLstmTest, StepsAreThoseOfFloat64) {
  manual_seed(3);
  for (const int64_t batch : {1, 17})
    for (const int64_t steps : {1, 2, 7})
      expect_lstm<BFloat16, 4, 1>({steps, batch, steps == 2}, kOfBrain);
  for (const LstmCase& of : {LstmCase{7, 16, true}, LstmCase{2, 40, false}})
    expect_lstm<BFloat16, 4, 2>(of, kOfBrain);
  expect_lstm<Half, 4, 1>({5, 9, true}, kOfHalf);
}

TEST_F(SimLstmTest, ClustersOfEightBlocks) {
  manual_seed(4);
  expect_lstm<BFloat16, 8, 1>({4, 3, false}, kOfBrain);
  expect_lstm<Half, 8, 2>({3, 17, true}, kOfHalf);
}

TEST_F(SimLstmTest, WithoutBiasAndSomeGradients) {
  manual_seed(5);
  expect_lstm<BFloat16, 4, 1>({3, 5, false, false, true, false}, kOfBrain);
  expect_lstm<BFloat16, 4, 1>({3, 5, true, true, false, true}, kOfBrain);
}

}  // namespace
}  // namespace gradus
