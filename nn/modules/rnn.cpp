// RNN, LSTM and GRU: their parameters, and the way of sequences through layers and directions.
#include "gradus/nn/modules/rnn.h"

#include <cmath>

#include "gradus/nn/init.h"
#include "gradus/tensor/base/warning.h"

namespace gradus::nn {

namespace detail {

namespace {

Recurrent recurrent_of(const char* name, Nonlinearity nonlinearity) {
  check(nonlinearity == kTanh || nonlinearity == kReLU, name,
        ": Unknown nonlinearity; give kTanh or kReLU");
  return nonlinearity == kTanh ? Recurrent::tanh : Recurrent::relu;
}

template <class Options>
RNNOptionsBase base_of(Recurrent mode, const Options& options) {
  return RNNOptionsBase(mode, options.input_size(), options.hidden_size())
      .num_layers(options.num_layers())
      .bias(options.bias())
      .batch_first(options.batch_first())
      .dropout(options.dropout())
      .bidirectional(options.bidirectional());
}

void start_uniform(ArrayRef<Tensor> weights, int64_t units) {
  const double bound = units > 0 ? 1 / std::sqrt(static_cast<double>(units)) : 0;
  for (const Tensor& weight : weights) init::uniform_(weight, -bound, bound);
}

}  // namespace

RNNOptionsBase base_of(const RNNOptions& options) {
  return base_of(recurrent_of("RNN", options.nonlinearity()), options);
}
RNNOptionsBase base_of(const LSTMOptions& options) {
  return base_of(Recurrent::lstm, options).proj_size(options.proj_size());
}
RNNOptionsBase base_of(const GRUOptions& options) { return base_of(Recurrent::gru, options); }

template <class Derived, class Options>
void RNNImplBase<Derived, Options>::reset() {
  const RNNOptionsBase& o = options_base;
  const std::string name = this->name();
  const int64_t units = o.hidden_size(), proj = o.proj_size();
  check(o.input_size() > 0 && units > 0 && o.num_layers() > 0, name,
        ": input_size, hidden_size and num_layers must be 1 or more, but they are ", o.input_size(),
        ", ", units, " and ", o.num_layers(), "; give the widths of input and state");
  check(o.dropout() >= 0 && o.dropout() <= 1, name,
        ": dropout should be a number in range [0, 1] representing the probability of an element "
        "being zeroed, but it is ",
        o.dropout(), "; give a part of 1");
  check(proj >= 0, name, ": proj_size has to be a positive integer or zero, but it is ", proj,
        "; 0 is for none");
  check(proj < units, name, ": proj_size has to be smaller than hidden_size, but they are ", proj,
        " and ", units, "; leave it out for no projection");
  if (o.dropout() > 0 && o.num_layers() == 1)
    warn(name +
         ": dropout option adds dropout after all but last recurrent layer, so non-zero "
         "dropout expects num_layers greater than 1");
  const int64_t out = proj > 0 ? proj : units, rows = gates_of(o.mode()) * units;
  weights_.clear();
  for (int64_t layer = 0; layer < o.num_layers(); ++layer)
    for (const char* direction : {"", "_reverse"}) {
      if (*direction && !o.bidirectional()) continue;
      const std::string suffix = "_l" + std::to_string(layer) + direction;
      const auto made = [&](const char* kind, IntArrayRef shape) {
        return this->register_parameter(kind + suffix, empty(shape));
      };
      const int64_t in = layer == 0 ? o.input_size() : out * (o.bidirectional() ? 2 : 1);
      RecurrentWeights w;
      w.ih = made("weight_ih", {rows, in});
      w.hh = made("weight_hh", {rows, out});
      if (o.bias()) w.bias_ih = made("bias_ih", {rows}), w.bias_hh = made("bias_hh", {rows});
      if (proj > 0) w.hr = made("weight_hr", {proj, units});
      weights_.push_back(w);
    }
  reset_parameters();
}

template <class Derived, class Options>
void RNNImplBase<Derived, Options>::reset_parameters() {
  start_uniform(all_weights(), options_base.hidden_size());
}

template <class Derived, class Options>
std::vector<Tensor> RNNImplBase<Derived, Options>::all_weights() const {
  std::vector<Tensor> out;
  for (const RecurrentWeights& w : weights_)
    for (const Tensor* x : {&w.ih, &w.hh, &w.bias_ih, &w.bias_hh, &w.hr})
      if (x->defined()) out.push_back(*x);
  return out;
}

template <class Derived, class Options>
void RNNImplBase<Derived, Options>::pretty_print(std::ostream& stream) const {
  const RNNOptionsBase& o = options_base;
  stream << std::boolalpha << class_name(typeid(Derived)) << "(input_size=" << o.input_size()
         << ", hidden_size=" << o.hidden_size() << ", num_layers=" << o.num_layers()
         << ", bias=" << o.bias() << ", batch_first=" << o.batch_first()
         << ", dropout=" << o.dropout() << ", bidirectional=" << o.bidirectional();
  if (o.proj_size() > 0) stream << ", proj_size=" << o.proj_size();
  stream << ')';
}

namespace {
void check_device(const std::string& op, const char* name, const Tensor& state,
                  const Tensor& input) {
  check<Error>(state.device() == input.device(), op, ": ", name, " is on ", state.device(),
               ", input on ", input.device(), "; move one with .to(...)");
}
}  // namespace

// The given states, checked, or zeros.
template <class Derived, class Options>
auto RNNImplBase<Derived, Options>::start(const Tensor& h, const Tensor& c, const Tensor& input,
                                          int64_t batch) const -> Result {
  const auto state = [&](const char* name, const Tensor& given, int64_t width) {
    const Dims shape{static_cast<int64_t>(weights_.size()), batch, width};
    if (!given.defined()) return zeros(shape, input.options());
    check(given.sizes() == IntArrayRef(shape), this->name(), ": Expected ", name, " size ",
          IntArrayRef(shape), ", got ", given.sizes(),
          "; it is (layers * directions, batch, width), leave it out for zeros");
    check_device(this->name(), name, given, input);
    return given;
  };
  const int64_t width = weights_[0].hh.size(1);
  if (options_base.mode() != Recurrent::lstm) return {{}, state("hidden", h, width), {}};
  return {{}, state("hidden[0]", h, width), state("hidden[1]", c, options_base.hidden_size())};
}

template <class Derived, class Options>
void RNNImplBase<Derived, Options>::check_width(const Tensor& input, const char* expected) const {
  const int64_t width = options_base.input_size();
  check(input.size(-1) == width, this->name(),
        ": input.size(-1) must be equal to input_size. Expected ", width, ", got ", input.size(-1),
        "; input has shape ", input.sizes(), ", expected ", expected,
        ", permute it or make the module with input_size = ", input.size(-1));
}

// rows (all steps, input_size), the states (layers * directions, batch, width).
template <class Derived, class Options>
auto RNNImplBase<Derived, Options>::run_rows(Tensor rows, const Steps& steps, const Tensor& h,
                                             const Tensor& c) const -> Result {
  const RNNOptionsBase& o = options_base;
  const int64_t directions = o.bidirectional() ? 2 : 1;
  Tensors last_h, last_c;
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    if (layer > 0 && o.dropout() > 0) rows = dropout(rows, o.dropout(), this->is_training());
    Tensors outs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t i = layer * directions + direction;
      const Steps way = direction == 0 ? steps : steps.reversed();
      const Recurrence y = recur(o.mode(), way, rows, h[i], c.defined() ? c[i] : c,
                                 weights_[static_cast<size_t>(i)]);
      outs.push_back(y.h);
      last_h.push_back(way.final(y.h));
      if (y.c.defined()) last_c.push_back(way.final(y.c));
    }
    rows = directions == 1 ? outs[0] : cat(outs, 1);
  }
  return {rows, stack(last_h), c.defined() ? stack(last_c) : c};
}

template <class Derived, class Options>
auto RNNImplBase<Derived, Options>::run(const Tensor& input, const Tensor& h, const Tensor& c) const
    -> Result {
  const RNNOptionsBase& o = options_base;
  this->check_defined(input, "input");
  check(input.dim() == 2 || input.dim() == 3, this->name(),
        ": input must have 3 dimensions, or 2 without a batch, got ", input.dim(),
        "; it has shape ", input.sizes(), ", use unsqueeze or flatten");
  check_width(input,
              o.batch_first() ? "(batch, length, input_size)" : "(length, batch, input_size)");
  if (input.dim() == 2) {
    const auto batched = [](const Tensor& x) { return x.defined() ? x.unsqueeze(1) : x; };
    for (const Tensor& state : {h, c})
      check(!state.defined() || state.dim() == 2, this->name(),
            ": For unbatched 2-D input, hx should also be 2-D but got ",
            state.defined() ? state.dim() : 0, "-D tensor; unsqueeze the input or squeeze hx");
    const int64_t batch_dim = o.batch_first() ? 0 : 1;
    const Result y = run(input.unsqueeze(batch_dim), batched(h), batched(c));
    return {y.out.squeeze(batch_dim), y.h.squeeze(1), y.c.defined() ? y.c.squeeze(1) : y.c};
  }
  const Tensor x = o.batch_first() ? input.transpose(0, 1) : input;
  const int64_t length = x.size(0), batch = x.size(1);
  check(length > 0, this->name(),
        ": Expected sequence length to be larger than 0 in RNN, but input has shape ",
        input.sizes(), "; give one step or more");
  const Result initial = start(h, c, x, batch);
  const Steps steps(std::vector<int64_t>(static_cast<size_t>(length), batch));
  Result y = run_rows(x.reshape({length * batch, o.input_size()}), steps, initial.h, initial.c);
  y.out = y.out.view({length, batch, y.out.size(1)});
  if (o.batch_first()) y.out = y.out.transpose(0, 1);
  return y;
}

template <class Derived, class Options>
auto RNNImplBase<Derived, Options>::run(const utils::rnn::PackedSequence& input, const Tensor& h,
                                        const Tensor& c) const -> PackedResult {
  const Tensor& rows = input.data();
  check(rows.operand(this->name().c_str(), "packed_input").dim() == 2, this->name(),
        ": input must have 2 dimensions, got ", rows.dim(),
        "; pack sequences of shape (length, input_size)");
  check_width(rows, "(all steps, input_size)");
  const Tensor counts = input.batch_sizes().contiguous();
  const int64_t* const first = counts.template data_ptr<int64_t>();
  const Steps steps(std::vector<int64_t>(first, first + counts.numel()));
  const auto sorted = [](const Tensor& state, const Tensor& order) {
    return state.defined() && order.defined() ? state.index_select(1, order) : state;
  };
  const Result initial = start(h, c, rows, steps.batch());
  const Tensor& order = input.sorted_indices();
  const Result y = run_rows(rows, steps, sorted(initial.h, order), sorted(initial.c, order));
  return {utils::rnn::PackedSequence(y.out, input.batch_sizes(), order, input.unsorted_indices()),
          sorted(y.h, input.unsorted_indices()), sorted(y.c, input.unsorted_indices())};
}

template struct RNNImplBase<RNNImpl, RNNOptions>;
template struct RNNImplBase<LSTMImpl, LSTMOptions>;
template struct RNNImplBase<GRUImpl, GRUOptions>;

template <class Derived, class Options>
Recurrent RNNCellImplBase<Derived, Options>::cell() const {
  if constexpr (std::is_same_v<Derived, LSTMCellImpl>)
    return Recurrent::lstm;
  else if constexpr (std::is_same_v<Derived, GRUCellImpl>)
    return Recurrent::gru;
  else
    return recurrent_of("RNNCell", options.nonlinearity());
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::reset() {
  const int64_t in = options.input_size(), units = options.hidden_size();
  check(in > 0 && units > 0, this->name(),
        ": input_size and hidden_size must be 1 or more, but they are ", in, " and ", units,
        "; give the widths of input and state");
  const int64_t rows = gates_of(cell()) * units;
  weight_ih = this->register_parameter("weight_ih", empty({rows, in}));
  weight_hh = this->register_parameter("weight_hh", empty({rows, units}));
  const auto bias = [&](const char* name) {
    return this->register_parameter(name, options.bias() ? empty({rows}) : Tensor(),
                                    options.bias());
  };
  bias_ih = bias("bias_ih"), bias_hh = bias("bias_hh");
  reset_parameters();
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::reset_parameters() {
  start_uniform(this->parameters(false), options.hidden_size());
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::pretty_print(std::ostream& stream) const {
  stream << class_name(typeid(Derived)) << '(' << options.input_size() << ", "
         << options.hidden_size();
  if (!options.bias()) stream << ", bias=false";
  if (cell() == Recurrent::relu) stream << ", nonlinearity=kReLU";
  stream << ')';
}

template <class Derived, class Options>
Recurrence RNNCellImplBase<Derived, Options>::run(const Tensor& input, const Tensor& h,
                                                  const Tensor& c) const {
  this->check_defined(input, "input");
  const bool batched = input.dim() == 2;
  check(batched || input.dim() == 1, this->name(),
        ": Expected input to be 1-D or 2-D but received ", input.dim(), "-D tensor of shape ",
        input.sizes(), "; a cell takes one step, (batch, input_size)");
  check(input.size(-1) == options.input_size(), this->name(),
        ": input has inconsistent input_size: got ", input.size(-1), " expected ",
        options.input_size(), "; input has shape ", input.sizes(),
        ", expected (batch, input_size), permute it or make the cell with input_size = ",
        input.size(-1));
  const Tensor x = batched ? input : input.unsqueeze(0);
  const auto state = [&](const char* name, const Tensor& given) {
    if (!given.defined()) return zeros({x.size(0), options.hidden_size()}, x.options());
    const Tensor out = batched || given.dim() != 1 ? given : given.unsqueeze(0);
    check(out.sizes() == IntArrayRef({x.size(0), options.hidden_size()}), this->name(), ": ", name,
          " has inconsistent hidden_size: its shape is ", given.sizes(), ", expected (batch, ",
          options.hidden_size(), ") for input ", input.sizes(), "; leave it out for zeros");
    check_device(this->name(), name, given, input);
    return out;
  };
  const Recurrence y = recur(cell(), Steps({x.size(0)}), x, state("hidden", h),
                             cell() == Recurrent::lstm ? state("cell", c) : Tensor(),
                             {weight_ih, weight_hh, bias_ih, bias_hh, {}}, /*of_layer=*/false);
  if (batched) return y;
  return {y.h.squeeze(0), y.c.defined() ? y.c.squeeze(0) : y.c};
}

template struct RNNCellImplBase<RNNCellImpl, RNNCellOptions>;
template struct RNNCellImplBase<LSTMCellImpl, LSTMCellOptions>;
template struct RNNCellImplBase<GRUCellImpl, GRUCellOptions>;

}  // namespace detail

using utils::rnn::PackedSequence;

template <class Derived, class Options>
std::tuple<Tensor, Tensor> OneStateRNN<Derived, Options>::forward(const Tensor& input, Tensor hx) {
  const auto y = this->run(input, hx, {});
  return {y.out, y.h};
}
template <class Derived, class Options>
std::tuple<PackedSequence, Tensor> OneStateRNN<Derived, Options>::forward_with_packed_input(
    const PackedSequence& packed_input, Tensor hx) {
  const auto y = this->run(packed_input, hx, {});
  return {y.out, y.h};
}
template struct OneStateRNN<RNNImpl, RNNOptions>;
template struct OneStateRNN<GRUImpl, GRUOptions>;

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::forward(const Tensor& input,
                                                      std::optional<State> hx_opt) {
  const auto [h, c] = hx_opt.value_or(State());
  const Result y = run(input, h, c);
  return {y.out, {y.h, y.c}};
}
std::tuple<PackedSequence, LSTMImpl::State> LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed_input, std::optional<State> hx_opt) {
  const auto [h, c] = hx_opt.value_or(State());
  const PackedResult y = run(packed_input, h, c);
  return {y.out, {y.h, y.c}};
}

}  // namespace gradus::nn
