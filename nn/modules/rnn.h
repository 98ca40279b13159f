// RNN, LSTM and GRU over sequences, and their cells, which take one step.
#pragma once

#include <optional>
#include <tuple>

#include "gradus/nn/layer.h"
#include "gradus/nn/modules/recurrence.h"
#include "gradus/nn/nonlinearity.h"
#include "gradus/nn/utils/rnn.h"

namespace gradus::nn {

// num_layers: each layer takes the outputs of the one below; dropout sets some of these to 0 while
// training. bidirectional: each layer also goes from the last step to the first, and the outputs of
// both directions stand side by side. batch_first: sequences are (batch, length, ...).
struct RNNOptions {
  GRADUS_OPTIONS(RNNOptions, ARGUMENT(int64_t, input_size), ARGUMENT(int64_t, hidden_size),
                 OPTION(int64_t, num_layers, 1), OPTION(Nonlinearity, nonlinearity, kTanh),
                 OPTION(bool, bias, true), OPTION(bool, batch_first, false),
                 OPTION(double, dropout, 0), OPTION(bool, bidirectional, false));
};

// proj_size: the width to which each state h is projected, by a learned matrix; 0 for no
// projection.
struct LSTMOptions {
  GRADUS_OPTIONS(LSTMOptions, ARGUMENT(int64_t, input_size), ARGUMENT(int64_t, hidden_size),
                 OPTION(int64_t, num_layers, 1), OPTION(bool, bias, true),
                 OPTION(bool, batch_first, false), OPTION(double, dropout, 0),
                 OPTION(bool, bidirectional, false), OPTION(int64_t, proj_size, 0));
};

struct GRUOptions {
  GRADUS_OPTIONS(GRUOptions, ARGUMENT(int64_t, input_size), ARGUMENT(int64_t, hidden_size),
                 OPTION(int64_t, num_layers, 1), OPTION(bool, bias, true),
                 OPTION(bool, batch_first, false), OPTION(double, dropout, 0),
                 OPTION(bool, bidirectional, false));
};

struct RNNCellOptions {
  GRADUS_OPTIONS(RNNCellOptions, ARGUMENT(int64_t, input_size), ARGUMENT(int64_t, hidden_size),
                 OPTION(bool, bias, true), OPTION(Nonlinearity, nonlinearity, kTanh));
};

struct LSTMCellOptions {
  GRADUS_OPTIONS(LSTMCellOptions, ARGUMENT(int64_t, input_size), ARGUMENT(int64_t, hidden_size),
                 OPTION(bool, bias, true));
};
using GRUCellOptions = LSTMCellOptions;

namespace detail {

// The options of all three.
struct RNNOptionsBase {
  GRADUS_OPTIONS(RNNOptionsBase, ARGUMENT(Recurrent, mode), ARGUMENT(int64_t, input_size),
                 ARGUMENT(int64_t, hidden_size), OPTION(int64_t, num_layers, 1),
                 OPTION(bool, bias, true), OPTION(bool, batch_first, false),
                 OPTION(double, dropout, 0), OPTION(bool, bidirectional, false),
                 OPTION(int64_t, proj_size, 0));
};
RNNOptionsBase base_of(const RNNOptions& options);
RNNOptionsBase base_of(const LSTMOptions& options);
RNNOptionsBase base_of(const GRUOptions& options);

// The common part of RNN, LSTM and GRU. Layer k has the parameters weight_ih_lk (gates *
// hidden_size, in), weight_hh_lk (gates * hidden_size, out), bias_ih_lk, bias_hh_lk, and where
// there is a projection weight_hr_lk (proj_size, hidden_size); the other direction's names end in
// "_reverse". All start uniform in +-1/sqrt(hidden_size).
// Errors: ValueError for numbers that are out of range, for an undefined input, and for inputs and
// states of other shapes.
template <class Derived, class Options>
struct RNNImplBase : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  using Layer<Derived, Options>::options;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  // Does nothing: there is no other layout of the parameters that is faster.
  void flatten_parameters() {}
  // The parameters in the order of their names above.
  std::vector<Tensor> all_weights() const;

  RNNOptionsBase options_base = base_of(options);

 protected:
  // Sequences and states as forward takes and returns them; c is that of an LSTM, else undefined.
  struct Result {
    Tensor out, h, c;
  };
  Result run(const Tensor& input, const Tensor& h, const Tensor& c) const;
  struct PackedResult {
    utils::rnn::PackedSequence out;
    Tensor h, c;
  };
  PackedResult run(const utils::rnn::PackedSequence& input, const Tensor& h, const Tensor& c) const;

 private:
  Result run_rows(Tensor rows, const Steps& steps, const Tensor& h, const Tensor& c) const;
  Result start(const Tensor& h, const Tensor& c, const Tensor& input, int64_t batch) const;
  void check_width(const Tensor& input, const char* expected) const;

  std::vector<RecurrentWeights> weights_;
  typename Layer<Derived, Options>::CallReset call_reset{*this};
};

}  // namespace detail

// RNN and GRU, whose state is one tensor.
//
// Input (length, batch, input_size); hx (layers * directions, batch, hidden_size), zeros unless
// given. Returns the outputs of the last layer (length, batch, directions * hidden_size) and the
// last states, of hx's shape. Inputs without a batch lack that dimension everywhere.
template <class Derived, class Options>
struct OneStateRNN : detail::RNNImplBase<Derived, Options> {
  using detail::RNNImplBase<Derived, Options>::RNNImplBase;
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};

// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. Elman, "Finding structure in time" (1990).
GRADUS_LAYER(RNN, OneStateRNN, RNNOptions);

// i, f, g, o = W_ih x + b_ih + W_hh h + b_hh; c' = sigmoid(f) c + sigmoid(i) tanh(g); h' =
// sigmoid(o) tanh(c'), or W_hr times that. Gers, Schmidhuber, Cummins, "Learning to forget" (2000).
//
// Like RNN, with the states (h, c). c is as wide as hidden_size. h and the outputs are as wide as
// proj_size where that is set.
struct LSTMImpl : detail::RNNImplBase<LSTMImpl, LSTMOptions> {
  using RNNImplBase::RNNImplBase;
  using State = std::tuple<Tensor, Tensor>;
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, State> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, std::optional<State> hx_opt = {});

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<State>())})
};
GRADUS_MODULE(LSTM);

// r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh); n = tanh(W_in x + b_in + r (W_hn h + b_hn)); h' =
// (1 - z) n + z h. Cho et al., "Learning phrase representations" (2014).
GRADUS_LAYER(GRU, OneStateRNN, GRUOptions);

namespace detail {

// The parameters are those of a layer: weight_ih, weight_hh, bias_ih and bias_hh.
template <class Derived, class Options>
struct RNNCellImplBase : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  using Layer<Derived, Options>::options;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  Recurrence run(const Tensor& input, const Tensor& h, const Tensor& c) const;

 private:
  Recurrent cell() const;
  typename Layer<Derived, Options>::CallReset call_reset{*this};
};

}  // namespace detail

// One step: input (batch, input_size) or (input_size), state (batch, hidden_size) or (hidden_size),
// zeros unless given.
// Errors: ValueError for an undefined input, and for other shapes.
template <class Derived, class Options>
struct OneStateCell : detail::RNNCellImplBase<Derived, Options> {
  using detail::RNNCellImplBase<Derived, Options>::RNNCellImplBase;
  Tensor forward(const Tensor& input, const Tensor& hx = {}) { return this->run(input, hx, {}).h; }

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
GRADUS_LAYER(RNNCell, OneStateCell, RNNCellOptions);
GRADUS_LAYER(GRUCell, OneStateCell, GRUCellOptions);

// The same with the states (h, c).

struct LSTMCellImpl : detail::RNNCellImplBase<LSTMCellImpl, LSTMCellOptions> {
  using RNNCellImplBase::RNNCellImplBase;
  using State = std::tuple<Tensor, Tensor>;
  State forward(const Tensor& input, std::optional<State> hx_opt = {}) {
    const auto [h, c] = hx_opt.value_or(State());
    const detail::Recurrence next = run(input, h, c);
    return {next.h, next.c};
  }

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<State>())})
};
GRADUS_MODULE(LSTMCell);

}  // namespace gradus::nn
