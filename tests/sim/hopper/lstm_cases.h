// The steps of an LSTM by clusters, and the same in float64.
#pragma once

#include <algorithm>
#include <vector>

#include "gradus/cuda/kernels/hopper/lstm_clusters.cuh"
#include "gradus/gradus.h"
#include "tests/sim/sim_test.h"

namespace gradus {

struct LstmCase {
  int64_t steps, batch;
  bool reverse;
  bool has_bias = true, has_grad_states = true, has_grad_cells = true;
};

// The weights are so large that gates are not alike.
template <class T, int kBlocks, int kTiles>
class LstmRun {
 public:
  explicit LstmRun(const LstmCase& of) : of_(of) {
    const int64_t rows = of.steps * of.batch;
    x_ = random({rows, 4 * kUnits}), h_ = random({of.batch, kUnits});
    c_ = random({of.batch, kUnits}), weight_ = random({4 * kUnits, kUnits}, 0.08);
    if (of.has_bias) bias_ = random({4 * kUnits}, 0.5);
    if (of.has_grad_states) grad_states_ = random({rows, kUnits});
    if (of.has_grad_cells) grad_cells_ = random({rows, kUnits});
    for (Tensor* each : {&x_, &h_, &c_}) each->set_requires_grad(true);
    take_steps();
    for (Tensor* each : {&gates_, &cells_, &states_})
      *each = place(rows, each == &gates_ ? 4 * kUnits : kUnits);
  }

  // Runs a kernel, and returns how far its results are from those in float64. backward() is called
  // behind forward().
  double forward() {
    const Tensor x = there(x_), h = there(h_), c = there(c_), weight = there(weight_),
                 bias = there(bias_);
    const cuda::LstmSteps<T> args = {steps(),      batch(),      of_.reverse,  data(x),
                                     data(h),      data(c),      data(weight), data(bias),
                                     data(gates_), data(cells_), data(states_)};
    launch(cuda::lstm_clusters<T, kBlocks, kTiles>, {blocks(), Tile::kThreads, Tile::kSharedBytes},
           args);
    return std::max(error(states_, exact_states_), error(cells_, exact_cells_));
  }
  double backward() {
    const Tensor grad_states = there(grad_states_), grad_cells = there(grad_cells_), c = there(c_),
                 weight = there(weight_), grad_x = place(x_.size(0), 4 * kUnits),
                 grad_h = place(of_.batch, kUnits), grad_c = place(of_.batch, kUnits);
    const cuda::LstmStepsGrad<T> args = {steps(),           batch(),          of_.reverse,
                                         data(grad_states), data(grad_cells), data(c),
                                         data(weight),      data(gates_),     data(cells_),
                                         data(grad_x),      data(grad_h),     data(grad_c)};
    launch(cuda::lstm_clusters_grad<T, kBlocks, kTiles>,
           {blocks(), Tile::kThreads, Tile::kSharedBytesOfGrad}, args);
    Tensor total = zeros({}, kDouble);
    if (of_.has_grad_states) total = total + (exact_states_ * grad_states_).sum();
    if (of_.has_grad_cells) total = total + (exact_cells_ * grad_cells_).sum();
    const std::vector<Tensor> grads = autograd::grad({total}, {x_, h_, c_});
    return std::max({error(grad_x, grads[0]), error(grad_h, grads[1]), error(grad_c, grads[2])});
  }

 private:
  using Tile = cuda::LstmTile<T, kBlocks, kTiles>;
  static constexpr int64_t kUnits = Tile::kUnits;
  static constexpr ScalarType kType = std::is_same_v<T, Half> ? kHalf : kBFloat16;

  static Tensor random(IntArrayRef shape, double scale = 1) {
    return (randn(shape) * scale).to(kType).to(kDouble);
  }
  static Tensor there(const Tensor& x) { return x.defined() ? x.detach().to(kType).cuda() : x; }
  static Tensor place(int64_t height, int64_t width) {
    return empty({height, width}, TensorOptions(kType).device(kCUDA));
  }
  static T* data(const Tensor& x) { return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr; }
  static double error(const Tensor& got, const Tensor& expected) {
    const Tensor exact = expected.detach();
    return ((got.cpu().to(kDouble) - exact).norm() / exact.norm()).item<double>();
  }
  int steps() const { return static_cast<int>(of_.steps); }
  int batch() const { return static_cast<int>(of_.batch); }
  unsigned blocks() const {
    return static_cast<unsigned>(kBlocks * ((of_.batch + Tile::kRows - 1) / Tile::kRows));
  }

  void take_steps() {
    std::vector<Tensor> states(static_cast<size_t>(of_.steps)), cells = states;
    Tensor h = h_, c = c_;
    for (int64_t i = 0; i < of_.steps; ++i) {
      const int64_t t = of_.reverse ? of_.steps - 1 - i : i;
      Tensor sums = x_.narrow(0, t * of_.batch, of_.batch) + h.matmul(weight_.t());
      if (bias_.defined()) sums = sums + bias_;
      const std::vector<Tensor> gates = sums.chunk(4, 1);
      c = gates[1].sigmoid() * c + gates[0].sigmoid() * gates[2].tanh();
      h = gates[3].sigmoid() * c.tanh();
      states[static_cast<size_t>(t)] = h, cells[static_cast<size_t>(t)] = c;
    }
    exact_states_ = cat(states), exact_cells_ = cat(cells);
  }

  LstmCase of_;
  Tensor x_, h_, c_, weight_, bias_, grad_states_, grad_cells_;  // of float64
  Tensor exact_states_, exact_cells_;
  Tensor gates_, cells_, states_;  // what the kernel made
};

}  // namespace gradus
