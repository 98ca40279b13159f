// RNN, LSTM, GRU and their cells: the fused form against its composite, derivatives, packed
// sequences, and errors. PyTorch's values: modules.def.
#include <sstream>

#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/tensor/backend.h"
#include "tests/support.h"

namespace gradus {
namespace {

using nn::detail::Recurrence, nn::detail::Recurrent, nn::detail::Steps;
namespace rnn = nn::utils::rnn;

struct Case {
  Recurrent cell;
  Steps steps;
  Tensor input, h, c;
  nn::detail::RecurrentWeights w;

  Tensors inputs() const {
    Tensors out;
    for (const Tensor& x : {input, h, c, w.ih, w.hh, w.bias_ih, w.bias_hh})
      if (x.defined()) out.push_back(x);
    return out;
  }
  // The states, weighted, so that every element has a gradient of its own.
  Tensor total(bool fused) const {
    const Recurrence y = fused ? nn::detail::recur(cell, steps, input, h, c, w)
                               : nn::detail::recur_composite(cell, steps, input, h, c, w);
    const Tensor ramp = arange(y.h.numel(), y.h.options()).view(y.h.sizes()) / 7 + 1;
    const Tensor out = (y.h * ramp).sum();
    return y.c.defined() ? out + (y.c / ramp).sum() : out;
  }
};

Case make(Recurrent cell, std::vector<int64_t> sizes, bool reverse, const TensorOptions& options,
          int64_t units = 3) {
  const int64_t in = 2, gates = nn::detail::gates_of(cell) * units, batch = sizes[0];
  int64_t rows = 0;
  for (const int64_t size : sizes) rows += size;
  const auto made = [&](IntArrayRef shape) {
    return randn(shape, options.requires_grad(false)).set_requires_grad(true);
  };
  Case out{cell, Steps(sizes, reverse), made({rows, in}), made({batch, units}), {}, {}};
  if (cell == Recurrent::lstm) out.c = made({batch, units});
  out.w = {made({gates, in}), made({gates, units}), made({gates}), made({gates}), {}};
  return out;
}

void expect_close(const Tensor& x, const Tensor& y, double tolerance, const std::string& what) {
  ASSERT_EQ(x.sizes(), y.sizes()) << what;
  EXPECT_LT((x.to(kCPU) - y.to(kCPU)).abs().max().item<double>(), tolerance) << what;
}

const std::vector<Recurrent> kCells{Recurrent::tanh, Recurrent::relu, Recurrent::lstm,
                                    Recurrent::gru};

TEST(Recurrence, FusedIsTheComposite) {
  manual_seed(1);
  for (const TensorOptions& options : {TensorOptions(kDouble), TensorOptions(kFloat)})
    for (const Device device : {Device(kCPU), Device(kCUDA)}) {
      if (device.is_cuda() && !cuda::is_available()) continue;
      for (const Recurrent cell : kCells)
        for (const bool reverse : {false, true})
          for (const std::vector<int64_t>& sizes :
               {std::vector<int64_t>{2, 2, 2}, {3, 1, 1}, {4}}) {
            const Case one = make(cell, sizes, reverse, options.device(device), 5);
            const std::string what = std::to_string(static_cast<int>(cell)) +
                                     (reverse ? " reverse" : "") +
                                     (device.is_cuda() ? " cuda" : "");
            const double tolerance = options.dtype() == kDouble ? 1e-10 : 1e-3;
            const Tensor fused = one.total(true), composite = one.total(false);
            expect_close(fused, composite, tolerance, what);
            const Tensors a = autograd::grad({fused}, one.inputs());
            const Tensors b = autograd::grad({composite}, one.inputs());
            for (size_t i = 0; i < a.size(); ++i)
              expect_close(a[i], b[i], tolerance, what + ", gradient " + std::to_string(i));
          }
    }
}

// The default of Backend, which devices without kernels of their own take.
TEST(Recurrence, AllStepsAtOnceAreTheLoop) {
  manual_seed(6);
  for (const Device device : {Device(kCPU), Device(kCUDA)}) {
    if (device.is_cuda() && !cuda::is_available()) continue;
    for (const bool reverse : {false, true})
      for (const bool has_bias : {false, true}) {
        const TensorOptions options = TensorOptions(kDouble).device(device);
        Case one = make(Recurrent::lstm, {3, 3, 3, 3}, reverse, options, 5);
        if (!has_bias) one.w.bias_ih = one.w.bias_hh = Tensor();
        const Recurrence y =
            nn::detail::recur(Recurrent::lstm, one.steps, one.input, one.h, one.c, one.w);
        const Tensor grad_h = randn_like(y.h).detach(), grad_c = randn_like(y.c).detach();
        const Tensors expected =
            autograd::grad({y.h, y.c}, {one.input, one.h, one.c}, {grad_h, grad_c});

        const NoGradGuard guard;
        Backend& steps = backend(one.input);
        const Tensor x = linear(one.input, one.w.ih, one.w.bias_ih), gates = empty_like(x),
                     cells = empty_like(y.c), states = empty_like(y.h), grad_x = empty_like(x),
                     first_h = empty_like(one.h), first_c = empty_like(one.c);
        steps.lstm_steps(reverse, x, one.h, one.c, one.w.hh, one.w.bias_hh, gates, cells, states);
        steps.lstm_steps_grad(reverse, grad_h, grad_c, one.c, one.w.hh, gates, cells, grad_x,
                              first_h, first_c);
        const std::string what = reverse ? "reverse" : "in order";
        expect_close(states, y.h, 1e-10, what), expect_close(cells, y.c, 1e-10, what);
        expect_close(grad_x.matmul(one.w.ih), expected[0], 1e-10, what);
        expect_close(first_h, expected[1], 1e-10, what);
        expect_close(first_c, expected[2], 1e-10, what);
      }
  }
}

// Even sequences, enough for each thread to take some of its own, and uneven ones.
TEST(Recurrence, AnyNumberOfThreadsGivesTheSameBits) {
  manual_seed(5);
  const int threads_before = get_num_threads();
  const std::vector<int64_t> even(5, 37), uneven{37, 37, 20, 1};
  for (const TensorOptions& options : {TensorOptions(kDouble), TensorOptions(kFloat)})
    for (const Recurrent cell : kCells)
      for (const bool reverse : {false, true}) {
        const Case one =
            make(cell, reverse && options.dtype() == kFloat ? uneven : even, reverse, options, 37);
        Tensors expected;
        for (const int threads : {1, 2, 3, 4}) {
          set_num_threads(threads);
          const Recurrence y = nn::detail::recur(cell, one.steps, one.input, one.h, one.c, one.w);
          Tensors made = autograd::grad({one.total(true)}, one.inputs());
          made.push_back(y.h);
          if (y.c.defined()) made.push_back(y.c);
          if (threads == 1) expected = made;
          for (size_t i = 0; i < made.size(); ++i)
            EXPECT_TRUE(made[i].equal(expected[i]))
                << static_cast<int>(cell) << ", " << threads << " threads, result " << i;
        }
      }
  set_num_threads(threads_before);
}

TEST(Recurrence, HasBothDerivatives) {
  manual_seed(2);
  for (const Recurrent cell : {Recurrent::tanh, Recurrent::lstm, Recurrent::gru})
    for (const bool reverse : {false, true}) {
      const Case one = make(cell, {2, 1}, reverse, TensorOptions(kDouble), 2);
      const auto f = [&](const Tensors& x) {
        Case at = one;
        size_t i = 0;
        at.input = x[i++], at.h = x[i++];
        if (cell == Recurrent::lstm) at.c = x[i++];
        at.w = {x[i], x[i + 1], x[i + 2], x[i + 3], {}};
        return Tensors{at.total(true)};
      };
      EXPECT_TRUE(autograd::gradcheck(f, one.inputs()));
      EXPECT_TRUE(autograd::gradgradcheck(f, one.inputs()));
    }
}

// Each sequence of a packed one has the states that it has alone.
template <class Module>
void expect_packed(const Module& module) {
  manual_seed(3);
  const Tensors sequences{randn({2, 3}), randn({4, 3}), randn({1, 3})};
  const auto packed = rnn::pack_sequence(sequences, /*enforce_sorted=*/false);
  EXPECT_EQ(to_vector(packed.batch_sizes()), (std::vector<double>{3, 2, 1, 1}));
  const auto y = module->forward_with_packed_input(packed);
  const auto [padded, lengths] = rnn::pad_packed_sequence(std::get<0>(y), true, -1, 5);
  EXPECT_EQ(to_vector(lengths), (std::vector<double>{2, 4, 1}));
  ASSERT_EQ(padded.size(1), 5);
  for (int64_t i = 0; i < 3; ++i) {
    const Tensor& x = sequences[static_cast<size_t>(i)];
    const auto alone = module->forward(x);
    expect_close(padded[i].narrow(0, 0, x.size(0)), std::get<0>(alone), 1e-6, "outputs");
    EXPECT_TRUE((padded[i].narrow(0, x.size(0), 5 - x.size(0)) == -1).all().template item<bool>());
    if constexpr (std::is_same_v<Module, nn::LSTM>) {
      expect_close(std::get<0>(std::get<1>(y)).select(1, i), std::get<0>(std::get<1>(alone)), 1e-6,
                   "h");
      expect_close(std::get<1>(std::get<1>(y)).select(1, i), std::get<1>(std::get<1>(alone)), 1e-6,
                   "c");
    } else {
      expect_close(std::get<1>(y).select(1, i), std::get<1>(alone), 1e-6, "h");
    }
  }
}

TEST(RNN, RunsPackedSequences) {
  expect_packed(nn::RNN(nn::RNNOptions(3, 4).num_layers(2).bidirectional(true)));
  expect_packed(nn::LSTM(nn::LSTMOptions(3, 4).num_layers(2).bidirectional(true)));
  expect_packed(nn::LSTM(nn::LSTMOptions(3, 4).proj_size(2).bidirectional(true)));
  expect_packed(nn::GRU(nn::GRUOptions(3, 4).num_layers(2).bidirectional(true)));
}

TEST(RNN, ACellIsAStep) {
  manual_seed(4);
  nn::LSTM lstm(2, 3);
  nn::LSTMCell cell(2, 3);
  {
    const NoGradGuard guard;
    for (size_t i = 0; i < 4; ++i) cell->parameters()[i].copy_(lstm->parameters()[i]);
  }
  const Tensor x = randn({3, 4, 2});
  const auto [out, state] = lstm(x);
  nn::LSTMCellImpl::State own;
  for (int64_t t = 0; t < 3; ++t) own = t == 0 ? cell(x[t]) : cell(x[t], own);
  expect_close(std::get<0>(own), out[2], 1e-6, "h");
  expect_close(std::get<1>(own), std::get<1>(state)[0], 1e-6, "c");
}

TEST(RNN, DropsBetweenLayersWhileTraining) {
  nn::GRU gru(nn::GRUOptions(2, 8).num_layers(2).dropout(0.5));
  const Tensor x = randn({3, 1, 2});
  const auto out = [&] { return std::get<0>(gru(x)); };
  EXPECT_FALSE(out().equal(out()));
  gru->eval();
  EXPECT_TRUE(out().equal(out()));
}

TEST(RNN, CloneHasParametersOfItsOwn) {
  nn::LSTM lstm(nn::LSTMOptions(2, 3).bidirectional(true).proj_size(1));
  const auto copy = std::dynamic_pointer_cast<nn::LSTMImpl>(lstm->clone());
  const Tensor x = randn({3, 4, 2}), before = std::get<0>(copy->forward(x));
  ASSERT_EQ(copy->all_weights().size(), 10U);
  {
    const NoGradGuard guard;
    for (const Tensor& weight : lstm->all_weights()) Tensor(weight).zero_();
  }
  EXPECT_TRUE(std::get<0>(copy->forward(x)).equal(before));
  EXPECT_FALSE(std::get<0>(lstm(x)).equal(before));
}

TEST(RNN, RefusesStatesOfAnotherDevice) {
  nn::LSTM lstm(2, 3);
  const Tensor elsewhere = empty({1, 2, 3}, device(kMeta)), here = ones({1, 2, 3});
  expect_error<Error>(
      [&] {
        lstm(ones({4, 2, 2}), std::make_tuple(elsewhere, here));
      },
      "LSTM: hidden[0] is on meta, input on cpu; move one with .to(...)");
  expect_error<Error>(
      [&] {
        lstm(ones({4, 2, 2}), std::make_tuple(here, elsewhere));
      },
      "LSTM: hidden[1] is on meta");
  nn::GRUCell cell(2, 3);
  expect_error<Error>(
      [&] {
        cell(ones({2, 2}), empty({2, 3}, device(kMeta)));
      },
      "GRUCell: hidden is on meta");
}

TEST(RNN, SaysWhatIsWrong) {
  nn::LSTM lstm(2, 3);
  expect_error<ValueError>([&] { lstm(Tensor()); }, "LSTM: input is undefined");
  expect_error<ValueError>([&] { lstm(ones({2})); },
                           "LSTM: input must have 3 dimensions, or 2 without a batch, got 1");
  expect_error<ValueError>(
      [&] {
        lstm(ones({4, 1, 5}));
      },
      "input.size(-1) must be equal to input_size. Expected 2, got 5");
  const auto state = std::make_tuple(ones({1, 2, 3}), ones({1, 1, 3}));
  expect_error<ValueError>(
      [&] {
        lstm(ones({4, 1, 2}), state);
      },
      "Expected hidden[0] size [1, 1, 3], got [1, 2, 3]");
  expect_error<ValueError>(
      [&] {
        nn::RNN(2, 3)(ones({4, 1, 2}), ones({1, 3}));
      },
      "Expected hidden size [1, 1, 3], got [1, 3]");
  expect_error<ValueError>(
      [&] {
        nn::GRU(2, 3)(ones({0, 1, 2}));
      },
      "Expected sequence length to be larger than 0");
  expect_error<ValueError>([&] { nn::GRU(0, 3); }, "GRU: input_size, hidden_size and num_layers");
  expect_error<ValueError>([&] { nn::GRU(nn::GRUOptions(2, 3).dropout(2)); },
                           "dropout should be a number in range [0, 1]");
  expect_error<ValueError>([&] { nn::LSTM(nn::LSTMOptions(2, 3).proj_size(3)); },
                           "proj_size has to be smaller than hidden_size");
  expect_error<ValueError>([&] { nn::RNN(nn::RNNOptions(2, 3).nonlinearity(kGELU)); },
                           "Unknown nonlinearity");
  expect_error<ValueError>(
      [&] {
        nn::GRUCell(2, 3)(ones({4, 5}));
      },
      "GRUCell: input has inconsistent input_size: got 5 expected 2");
  expect_error<ValueError>(
      [&] {
        nn::GRUCell(2, 3)(ones({4, 2}), ones({4, 5}));
      },
      "GRUCell: hidden has inconsistent hidden_size");
}

TEST(RNN, SaysWhatIsWrongWithPackedSequences) {
  const auto packs = [](IntArrayRef shape, const Tensor& lengths) {
    rnn::pack_padded_sequence(ones(shape), lengths);
  };
  expect_error<ValueError>(
      [&] {
        packs({3, 2, 1}, tensor({1, 3}));
      },
      "`lengths` array must be sorted in decreasing order");
  expect_error<ValueError>(
      [&] {
        packs({3, 2, 1}, tensor({3, 0}));
      },
      "Length of all samples has to be greater than 0");
  expect_error<ValueError>(
      [&] {
        packs({3, 2, 1}, tensor({3}));
      },
      "Expected `len(lengths)` to be equal to batch_size, but got 1");
  expect_error<ValueError>(
      [&] {
        packs({3, 2, 1}, tensor({4, 1}));
      },
      "a sequence is 4 long, and input has 3 steps");
  const auto packed = rnn::pack_sequence({ones({3, 1}), ones({2, 1})});
  expect_error<ValueError>(
      [&] { rnn::pad_packed_sequence(packed, false, 0, 2); },
      "Expected total_length to be at least the length of the longest sequence");
  expect_error<ValueError>([] { rnn::pad_sequence({}); }, "received an empty list of sequences");
}

TEST(RNN, ABatchMayBeEmpty) {
  const Tensor x = ones({5, 0, 3}, requires_grad());
  const auto [out, h] = nn::RNN(nn::RNNOptions(3, 4).num_layers(2).bidirectional(true))(x);
  EXPECT_EQ(out.sizes(), IntArrayRef({5, 0, 8}));
  EXPECT_EQ(h.sizes(), IntArrayRef({4, 0, 4}));
  nn::GRU gru(nn::GRUOptions(3, 4).batch_first(true));
  EXPECT_EQ(std::get<0>(gru(ones({0, 5, 3}))).sizes(), IntArrayRef({0, 5, 4}));
  for (const int64_t proj : {0, 2}) {
    nn::LSTM lstm(nn::LSTMOptions(3, 4).proj_size(proj));
    const auto [y, state] = lstm(x);
    EXPECT_EQ(y.sizes(), IntArrayRef({5, 0, proj ? proj : 4}));
    EXPECT_EQ(std::get<1>(state).sizes(), IntArrayRef({1, 0, 4}));
    y.sum().backward();
    EXPECT_FALSE(lstm->parameters()[0].grad().ne(0).any().item<bool>());
  }
}

TEST(RNN, RefusesBatchSizesThatDoNotFitTheData) {
  const auto refuses = [](const Tensor& data, const Tensor& sizes, const char* why) {
    expect_error<ValueError>([&] { rnn::PackedSequence(data, sizes); }, why);
  };
  const Tensor data = ones({3, 1});
  refuses(data, tensor({1, 2}), "batch_sizes have 2 after 1, expected 1 or more, and never more");
  refuses(data, tensor({3, 0}), "batch_sizes have 0 after 3, expected 1 or more");
  refuses(data, tensor({4}), "batch_sizes have 4 first, expected 1 to the number of rows, 3");
  refuses(data, tensor({-1}), "batch_sizes have -1 first");
  refuses(data, tensor({1, 1}), "batch_sizes sum to 2, and data has shape [3, 1]");
  refuses(data, tensor({{2, 1}}), "batch_sizes have shape [1, 2], expected one dimension");
  refuses(ones({}), tensor({1}), "data has shape [], expected (rows, ...)");
  expect_error<Error>([] { rnn::PackedSequence(Tensor(), tensor({1})); }, "data is undefined");
  expect_error<TypeError>([&] { rnn::PackedSequence(data, ones({3})); },
                          "batch_sizes have dtype float32, expected int64");
  EXPECT_EQ(rnn::PackedSequence(data, tensor({2, 1})).to(kDouble).data().dtype(), kDouble);
  EXPECT_EQ(rnn::PackedSequence(ones({0, 1}), zeros({0}, kLong)).data().size(0), 0);
}

}  // namespace
}  // namespace gradus
