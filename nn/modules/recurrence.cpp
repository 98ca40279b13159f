// Recurrent cells over the steps of sequences. The input's products are one product for all steps;
// the fused form keeps the activated gates, and makes the gradient of the weights in one product. A
// device may take all steps of an LSTM at once.
#include "gradus/nn/modules/recurrence.h"

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/tools/function.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::detail {

Steps::Steps(std::vector<int64_t> sizes, bool reverse)
    : sizes_(std::move(sizes)), reverse_(reverse) {
  int64_t row = 0;
  for (const int64_t size : sizes_) first_.push_back(row), row += size;
}

Steps Steps::part(int64_t first, int64_t count) const {
  Steps out = *this;
  out.sizes_.assign(sizes_.size(), count);
  for (int64_t& row : out.first_) row += first;
  return out;
}

Tensor Steps::rows(const Tensor& all, int64_t t) const {
  return all.narrow(0, first_[static_cast<size_t>(t)], sizes_[static_cast<size_t>(t)]);
}

Tensor Steps::carried(const Tensor& old, const Tensor& start, int64_t t) const {
  const int64_t size = sizes_[static_cast<size_t>(t)];
  const int64_t known = old.defined() ? std::min(size, old.size(0)) : 0;
  if (known == 0) return start.narrow(0, 0, size);
  const Tensor first = old.narrow(0, 0, known);
  return known == size ? first : cat({first, start.narrow(0, known, size - known)});
}

Tensor Steps::before(const Tensor& all, const Tensor& start, int64_t t) const {
  const int64_t last = reverse_ ? t + 1 : t - 1;
  return carried(last < 0 || last == count() ? Tensor() : rows(all, last), start, t);
}

Tensor Steps::all_before(const Tensor& all, const Tensor& start) const {
  if (is_even() && count() > 0) {
    const Tensor moved = all.narrow(0, reverse_ ? batch() : 0, all.size(0) - batch());
    return reverse_ ? cat({moved, start}) : cat({start, moved});
  }
  Tensors parts;
  for (int64_t t = 0; t < count(); ++t) parts.push_back(before(all, start, t));
  return cat(parts);
}

Tensor Steps::final(const Tensor& all) const {
  if (reverse_ || batch() == 0) return all.narrow(0, 0, batch());
  Tensors parts;
  int64_t done = 0;  // sequences that end later
  for (int64_t t = count() - 1; t >= 0; --t) {
    const int64_t size = sizes_[static_cast<size_t>(t)];
    if (size > done) parts.push_back(rows(all, t).narrow(0, done, size - done));
    done = std::max(done, size);
  }
  return parts.size() == 1 ? parts[0] : cat(parts);
}

namespace {

// One step, of the sums of the input and of h.
Recurrence step(Recurrent cell, const Tensor& x, const Tensor& s, const Tensor& h,
                const Tensor& c) {
  switch (cell) {
    case Recurrent::tanh:
      return {(x + s).tanh(), {}};
    case Recurrent::relu:
      return {(x + s).relu(), {}};
    case Recurrent::gru: {
      const Tensors in = x.chunk(3, 1), own = s.chunk(3, 1);
      const Tensor r = (in[0] + own[0]).sigmoid(), z = (in[1] + own[1]).sigmoid();
      const Tensor n = (in[2] + r * own[2]).tanh();
      return {n + z * (h - n), {}};
    }
    case Recurrent::lstm: {
      const Tensors gates = (x + s).chunk(4, 1);
      const Tensor next = gates[1].sigmoid() * c + gates[0].sigmoid() * gates[2].tanh();
      return {gates[3].sigmoid() * next.tanh(), next};
    }
  }
  return {};
}

// The same from the sums of the input on.
Recurrence composite(Recurrent cell, const Steps& steps, const Tensor& x, const Tensor& h,
                     const Tensor& c, const Tensor& hh, const Tensor& bias, const Tensor& hr) {
  Tensors states(steps.sizes().size()), cells(states);
  Tensor state, memory;
  for (int64_t i = 0; i < steps.count(); ++i) {
    const int64_t t = steps.at(i);
    state = steps.carried(state, h, t);
    if (c.defined()) memory = steps.carried(memory, c, t);
    const Recurrence next = step(cell, steps.rows(x, t), linear(state, hh, bias), state, memory);
    state = hr.defined() ? linear(next.h, hr) : next.h, memory = next.c;
    states[static_cast<size_t>(t)] = state, cells[static_cast<size_t>(t)] = memory;
  }
  return {cat(states), memory.defined() ? cat(cells) : Tensor()};
}

UnaryOp op_of(Recurrent cell) { return cell == Recurrent::tanh ? UnaryOp::tanh : UnaryOp::relu; }

// f(steps, first, count) for parts of the sequences, of `weight` as Backend::packed returned it. A
// thread takes its part through all steps, and waits for no other thread between them. In some
// cases all sequences are one part, and the threads share its products. One case is a product whose
// rows decide its bits. Another is a layer before the backend that observes this thread. The last
// one is small or unequal parts.
template <class F>
void for_parts(const Steps& steps, const Tensor& weight, const F& f) {
  constexpr int64_t kLeast = 8, kWorthThreads = 1 << 18;  // sequences of a part; multiplications
  const int64_t batch = steps.batch(), threads = gradus::detail::usable_threads();
  const bool rows_are_alike = weight.dim() == 3 && &backend(weight) == &cpu_backend();
  if (threads == 1 || !rows_are_alike || !steps.is_even() || batch < threads * kLeast ||
      steps.count() * batch * weight.numel() < kWorthThreads)
    return f(steps, 0, batch);
  gradus::detail::run_parts(threads, [&](int64_t part) {
    const NoGradGuard guard;
    const int64_t first = batch * part / threads, end = batch * (part + 1) / threads;
    f(steps.part(first, end - first), first, end - first);
  });
}

// Whether the device takes all steps of the cell at once. A few steps are not worth a launch that
// reads the weights for each group of sequences.
bool takes_all_steps(Recurrent cell, const Steps& steps, const Tensor& x, int64_t units) {
  constexpr int64_t kLeast = 4;
  return cell == Recurrent::lstm && steps.is_even() && steps.count() >= kLeast &&
         backend(x).takes_lstm_steps(x.device(), x.scalar_type(), units);
}

Tensor dense(const Tensor& x) { return x.defined() ? x.contiguous() : x; }

Tensor rows_of(const Tensor& x, int64_t first, int64_t count) {
  return x.defined() ? raw::narrow(x, 0, first, count) : x;
}

struct Fused : autograd::Function<Fused> {
  // x: the sums of the input. Returns h, and of an LSTM c.
  // at_once: takes_all_steps().
  static Tensors forward(autograd::AutogradContext* ctx, Recurrent cell, const Steps& steps,
                         bool at_once, const Tensor& x, const Tensor& h, const Tensor& c,
                         const Tensor& hh, const Tensor& bias) {
    Backend& device = backend(x);
    const bool lstm = cell == Recurrent::lstm, gru = cell == Recurrent::gru;
    const auto made = [&](int64_t width) {
      return raw::empty({x.size(0), width}, x.dtype(), x.device());
    };
    const Tensor states = made(hh.size(1)), cells = lstm ? made(hh.size(1)) : Tensor();
    const Tensor sums = at_once ? Tensor() : made(x.size(1));
    const Tensor gates = lstm || gru ? made(x.size(1)) : Tensor();
    if (at_once)
      device.lstm_steps(steps.is_reversed(), x, h, c, dense(hh), dense(bias), gates, cells, states);
    else
      take_steps(cell, steps, {x, h, c, hh, bias, states, cells, gates, sums});
    ctx->saved_data["cell"] = static_cast<int64_t>(cell);
    ctx->saved_data["sizes"] = steps.sizes();
    ctx->saved_data["reverse"] = steps.is_reversed();
    ctx->saved_data["at_once"] = at_once;
    ctx->save_for_backward({x, h, c, hh, bias, states, cells, gates, gru ? sums : Tensor()});
    ctx->set_materialize_grads(false);
    return lstm ? Tensors{states, cells} : Tensors{states};
  }

  static Tensors backward(autograd::AutogradContext* ctx, Tensors grads) {
    const auto cell = static_cast<Recurrent>(ctx->saved_data["cell"].toInt());
    const Steps steps(ctx->saved_data["sizes"].toIntVector(), ctx->saved_data["reverse"].toBool());
    const Tensors saved = ctx->get_saved_variables();
    const bool at_once = ctx->saved_data["at_once"].toBool();
    Tensors out = GradMode::is_enabled() ? composite_grads(cell, steps, saved, grads)
                                         : fused_grads(cell, steps, at_once, saved, grads);
    out.insert(out.begin(), 3, Tensor());
    return out;
  }

 private:
  // all: as forward saves them, with the sums.
  static void take_steps(Recurrent cell, const Steps& steps, const Tensors& all) {
    const Tensor &x = all[0], &h = all[1], &c = all[2], &hh = all[3], &bias = all[4];
    const Tensor &states = all[5], &cells = all[6], &gates = all[7], &sums = all[8];
    Backend& device = backend(x);
    const Tensor weight = device.packed(raw::transpose(hh, 0, 1), steps.batch());
    for_parts(steps, weight, [&](const Steps& part, int64_t first, int64_t count) {
      const Tensor h0 = rows_of(h, first, count), c0 = rows_of(c, first, count);
      for (int64_t i = 0; i < part.count(); ++i) {
        const int64_t t = part.at(i);
        const auto of = [&](const Tensor& each) { return part.rows(each, t); };
        const Tensor h_prev = part.before(states, h0, t), s = of(sums);
        device.matmul_packed(h_prev, weight, bias, s);
        if (cell == Recurrent::lstm) {
          device.lstm_cell(of(x), s, part.before(cells, c0, t), of(gates), of(cells), of(states));
        } else if (cell == Recurrent::gru) {
          device.gru_cell(of(x), s, h_prev, of(gates), of(states));
        } else {
          raw::zip_(BinaryOp::add, s, of(x));
          device.map(op_of(cell), s, of(states));
        }
      }
    });
  }

  // Sets grad_x and grad_s. grad_h and grad_c hold 0, and become the gradients of h and c.
  static void take_steps_back(Recurrent cell, const Steps& steps, const Tensors& saved,
                              const Tensors& grads, const Tensor& grad_x, const Tensor& grad_s,
                              const Tensor& grad_h, const Tensor& grad_c) {
    const Tensor &h = saved[1], &c = saved[2], &hh = saved[3], &states = saved[5];
    const Tensor &cells = saved[6], &gates = saved[7], &sums = saved[8];
    Backend& device = backend(grad_x);
    const bool lstm = cell == Recurrent::lstm, gru = cell == Recurrent::gru;
    const Tensor weight = device.packed(hh, steps.batch());
    for_parts(steps, weight, [&](const Steps& part, int64_t first, int64_t count) {
      const Tensor h0 = rows_of(h, first, count), c0 = rows_of(c, first, count);
      for (int64_t i = part.count() - 1; i >= 0; --i) {
        const int64_t t = part.at(i);
        const auto of = [&](const Tensor& all) { return all.defined() ? part.rows(all, t) : all; };
        const int64_t size = of(grad_x).size(0);
        const Tensor own = raw::narrow(grad_h, 0, first, size), given = of(grads[0]);
        if (lstm) {
          const Tensor own_c = raw::narrow(grad_c, 0, first, size);
          if (grads[1].defined()) raw::zip_(BinaryOp::add, own_c, of(grads[1]));
          device.lstm_cell_grad(given, part.before(cells, c0, t), of(gates), of(cells), own, own_c,
                                of(grad_x));
        } else if (gru) {
          device.gru_cell_grad(given, part.before(states, h0, t), of(sums), of(gates), own,
                               of(grad_x), of(grad_s));
        } else {
          if (given.defined()) raw::zip_(BinaryOp::add, own, given);
          device.map_grad(op_of(cell), own, of(states), of(states), of(grad_x));
        }
        const Tensor through = gru ? raw::empty_like(own) : own;
        device.matmul_packed(of(grad_s), weight, {}, through);
        if (gru) raw::zip_(BinaryOp::add, own, through);
      }
    });
  }

  // Returns the gradients of x, h, c, hh and bias.
  static Tensors fused_grads(Recurrent cell, const Steps& steps, bool at_once, const Tensors& saved,
                             const Tensors& given) {
    const Tensor &x = saved[0], &h = saved[1], &c = saved[2], &hh = saved[3], &states = saved[5];
    const bool lstm = cell == Recurrent::lstm, gru = cell == Recurrent::gru;
    const Tensors grads = {dense(given[0]), lstm ? dense(given[1]) : Tensor()};
    const Tensor grad_x = raw::empty_like(x), grad_s = gru ? raw::empty_like(x) : grad_x;
    const Tensor grad_h = at_once ? raw::empty_like(h) : zeros(h.sizes(), h.options());
    const Tensor grad_c = !lstm     ? Tensor()
                          : at_once ? raw::empty_like(c)
                                    : zeros(c.sizes(), c.options());
    if (at_once)
      backend(x).lstm_steps_grad(steps.is_reversed(), grads[0], grads[1], c, dense(hh), saved[7],
                                 saved[6], grad_x, grad_h, grad_c);
    else
      take_steps_back(cell, steps, saved, grads, grad_x, grad_s, grad_h, grad_c);
    const Tensor of_hh = raw::matmul(raw::transpose(grad_s, 0, 1), steps.all_before(states, h));
    return {grad_x, grad_h, grad_c, of_hh, saved[4].defined() ? grad_s.sum(0) : Tensor()};
  }

  // Returns the gradients with a graph of their own.
  static Tensors composite_grads(Recurrent cell, const Steps& steps, const Tensors& saved,
                                 const Tensors& grads) {
    const Recurrence y =
        composite(cell, steps, saved[0], saved[1], saved[2], saved[3], saved[4], {});
    Tensors of, given, inputs, out(5);
    for (size_t i = 0; i < grads.size(); ++i)
      if (grads[i].defined()) of.push_back(i == 0 ? y.h : y.c), given.push_back(grads[i]);
    for (size_t i = 0; i < out.size(); ++i)
      if (in_graph(saved[i])) inputs.push_back(saved[i]);
    const Tensors found = autograd::grad(of, inputs, given, true, true, true);
    for (size_t i = 0, next = 0; i < out.size(); ++i)
      if (in_graph(saved[i])) out[i] = found[next++];
    return out;
  }
};

// The row of autocast for this cell.
const autocast::Row& row_of(Recurrent cell, bool of_layer) {
  static constexpr autocast::Row kRows[] = {autocast::row_of("rnn"), autocast::row_of("gru"),
                                            autocast::row_of("lstm"),
                                            autocast::row_of("lstm_cell")};
  if (cell == Recurrent::lstm) return kRows[of_layer ? 2 : 3];
  return kRows[cell == Recurrent::gru ? 1 : 0];
}

}  // namespace

Recurrence recur_composite(Recurrent cell, const Steps& steps, const Tensor& input, const Tensor& h,
                           const Tensor& c, const RecurrentWeights& weights) {
  return composite(cell, steps, linear(input, weights.ih, weights.bias_ih), h, c, weights.hh,
                   weights.bias_hh, weights.hr);
}

Recurrence recur(Recurrent cell, const Steps& steps, const Tensor& input, const Tensor& h,
                 const Tensor& c, const RecurrentWeights& weights, bool of_layer) {
  const auto& [ih, hh, bias_ih, bias_hh, hr] = weights;
  if (thread_modes.autocast.casts) [[unlikely]] {
    const autocast::Row& row = row_of(cell, of_layer && !hr.defined());
    const autocast::Operands operands(row, input, h, c, ih, hh, bias_ih, bias_hh, hr);
    const auto again = [&](const Tensor& x, const Tensor& h0, const Tensor& c0, const auto&... w) {
      return recur(cell, steps, x, h0, c0, {w...});
    };
    if (operands.cast()) return operands.call(again, input, h, c, ih, hh, bias_ih, bias_hh, hr);
    return recur_composite(cell, steps, input, h, c, weights);
  }
  const ScalarType dtype = input.scalar_type(), computed = computed_type(dtype);
  bool fuses = !hr.defined() && input.size(0) > 0;
  for (const Tensor& x : {h, c, ih, hh, bias_ih, bias_hh})
    fuses &= !x.defined() || x.dtype() == dtype;  // other types: an error of a product
  if (!fuses) return recur_composite(cell, steps, input, h, c, weights);
  const bool at_once = takes_all_steps(cell, steps, input, hh.size(1));
  if (computed != dtype && !at_once) {
    const auto wide = [=](const Tensor& x) { return x.defined() ? x.to(computed) : x; };
    const Recurrence y = recur(cell, steps, wide(input), wide(h), wide(c),
                               {wide(ih), wide(hh), wide(bias_ih), wide(bias_hh), {}});
    return {y.h.to(dtype), y.c.defined() ? y.c.to(dtype) : y.c};
  }
  const Tensors out = Fused::apply(cell, steps, at_once, linear(input, ih, bias_ih), dense(h),
                                   dense(c), hh, bias_hh);
  return {out[0], out.size() > 1 ? out[1] : Tensor()};
}

}  // namespace gradus::nn::detail
