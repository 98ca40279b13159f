// Recurrent cells, run over the steps of sequences: what RNN, LSTM, GRU and their cells share.
#pragma once

#include <cstdint>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::nn::detail {

enum class Recurrent : uint8_t { tanh, relu, lstm, gru };
// How many sums a unit has.
constexpr int64_t gates_of(Recurrent cell) {
  return cell == Recurrent::lstm ? 4 : cell == Recurrent::gru ? 3 : 1;
}

// The rows of sequences, step by step: those of step t are of the first sizes[t] sequences, never
// more than before.
class Steps {
 public:
  explicit Steps(std::vector<int64_t> sizes, bool reverse = false);
  Steps reversed() const { return Steps(sizes_, true); }
  // Whether all sequences have all steps.
  bool is_even() const { return sizes_.empty() || sizes_.back() == sizes_[0]; }
  // The steps of `count` sequences from `first` on, within the same rows; `start` below has theirs
  // alone. REQUIRES: is_even().
  Steps part(int64_t first, int64_t count) const;

  const std::vector<int64_t>& sizes() const { return sizes_; }
  bool is_reversed() const { return reverse_; }
  int64_t count() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t batch() const { return sizes_.empty() ? 0 : sizes_[0]; }
  // The step that is taken as the i-th.
  int64_t at(int64_t i) const { return reverse_ ? count() - 1 - i : i; }
  Tensor rows(const Tensor& all, int64_t t) const;
  // The states of the sequences of step t before that step. `old` holds the rows of the step that
  // was taken before (undefined: none was). Sequences that only begin take theirs from `start`
  // (sequences, ...).
  Tensor carried(const Tensor& old, const Tensor& start, int64_t t) const;
  // The same, where `all` holds the rows of all steps.
  Tensor before(const Tensor& all, const Tensor& start, int64_t t) const;
  // before() of all steps, in the order of the rows.
  Tensor all_before(const Tensor& all, const Tensor& start) const;
  // The last rows of each sequence that are taken.
  Tensor final(const Tensor& all) const;

 private:
  std::vector<int64_t> sizes_, first_;
  bool reverse_;
};

// The weights of one layer in one direction: (gates * units, in) and (gates * units, out); the
// biases (gates * units), or undefined; and the projection (out, units), or undefined.
struct RecurrentWeights {
  Tensor ih, hh, bias_ih, bias_hh, hr;
};

struct Recurrence {
  Tensor h, c;  // (rows, out), (rows, units); c is that of an LSTM
};

// The states after each row of input (rows, in), starting from h (sequences, out) and, for an LSTM,
// c (sequences, units). The graph gets one node with its own pass over the steps. Projections (hr)
// are composites instead. Types of 16 bits are computed in float32 and rounded at the end, but for
// an LSTM whose steps the device takes at once.
// of_layer: autocast takes the LSTM of a layer and that of a cell for two operations.
Recurrence recur(Recurrent cell, const Steps& steps, const Tensor& input, const Tensor& h,
                 const Tensor& c, const RecurrentWeights& weights, bool of_layer = true);
// The same of public functions.
Recurrence recur_composite(Recurrent cell, const Steps& steps, const Tensor& input, const Tensor& h,
                           const Tensor& c, const RecurrentWeights& weights);

}  // namespace gradus::nn::detail
