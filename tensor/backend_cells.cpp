// The recurrent cells of Backend and the steps of an LSTM, made of other functions of tensors. A
// device without kernels of its own does this. Kernels are compared with it.
#include "gradus/tensor/raw/arithmetic.h"

namespace gradus {

using raw::plus, raw::minus, raw::times;

namespace {

// The gradient of the operand of a function, given its result.
Tensor through(UnaryOp op, const Tensor& grad, const Tensor& y) {
  return raw::map_grad(op, grad, {}, y);
}
// The i-th of the matrices of H columns that stand side by side.
Tensor gate(const Tensor& all, int64_t units, int64_t i) {
  return raw::narrow(all, 1, i * units, units);
}

}  // namespace

void Backend::lstm_cell(const Tensor& x, const Tensor& s, const Tensor& c_prev, const Tensor& gates,
                        const Tensor& c, const Tensor& h) {
  const int64_t units = c.size(1);
  const auto of = [&](int64_t i) { return gate(gates, units, i); };
  raw::copy_(gates, plus(x, s));
  raw::map_(UnaryOp::sigmoid, raw::narrow(gates, 1, 0, 2 * units));
  raw::map_(UnaryOp::tanh, of(2));
  raw::map_(UnaryOp::sigmoid, of(3));
  raw::copy_(c, plus(times(of(1), c_prev), times(of(0), of(2))));
  raw::copy_(h, times(of(3), raw::map(UnaryOp::tanh, c)));
}

void Backend::lstm_cell_grad(const Tensor& grad, const Tensor& c_prev, const Tensor& gates,
                             const Tensor& c, const Tensor& grad_h, const Tensor& grad_c,
                             const Tensor& grad_x) {
  if (grad.defined()) raw::zip_(BinaryOp::add, grad_h, grad);
  const int64_t units = c.size(1);
  const auto of = [&](int64_t i) { return gate(gates, units, i); };
  const auto set = [&](int64_t i, UnaryOp op, const Tensor& of_gate) {
    raw::copy_(gate(grad_x, units, i), through(op, of_gate, of(i)));
  };
  const Tensor t = raw::map(UnaryOp::tanh, c);
  raw::zip_(BinaryOp::add, grad_c, through(UnaryOp::tanh, times(grad_h, of(3)), t));
  set(0, UnaryOp::sigmoid, times(grad_c, of(2)));
  set(1, UnaryOp::sigmoid, times(grad_c, c_prev));
  set(2, UnaryOp::tanh, times(grad_c, of(0)));
  set(3, UnaryOp::sigmoid, times(grad_h, t));
  raw::zip_(BinaryOp::mul, grad_c, of(1));
}

namespace {

// The rows of all steps, in the order in which the steps are taken.
class StepRows {
 public:
  StepRows(bool reverse, int64_t rows, int64_t batch)
      : count(rows / batch), reverse_(reverse), batch_(batch) {}
  Tensor operator()(const Tensor& all, int64_t i) const {
    if (!all.defined()) return all;
    return raw::narrow(all, 0, (reverse_ ? count - 1 - i : i) * batch_, batch_);
  }
  // The rows of the step before; `start` where there is none.
  Tensor before(const Tensor& all, const Tensor& start, int64_t i) const {
    return i == 0 ? start : (*this)(all, i - 1);
  }

  int64_t count;

 private:
  bool reverse_;
  int64_t batch_;
};

}  // namespace

void Backend::lstm_steps(bool reverse, const Tensor& x, const Tensor& h, const Tensor& c,
                         const Tensor& weight, const Tensor& bias, const Tensor& gates,
                         const Tensor& cells, const Tensor& states) {
  const StepRows rows(reverse, x.size(0), h.size(0));
  const Tensor by_column = packed(raw::transpose(weight, 0, 1), h.size(0));
  const Tensor s = raw::empty({h.size(0), x.size(1)}, x.dtype(), x.device());
  for (int64_t i = 0; i < rows.count; ++i) {
    matmul_packed(rows.before(states, h, i), by_column, bias, s);
    lstm_cell(rows(x, i), s, rows.before(cells, c, i), rows(gates, i), rows(cells, i),
              rows(states, i));
  }
}

void Backend::lstm_steps_grad(bool reverse, const Tensor& grad_states, const Tensor& grad_cells,
                              const Tensor& c, const Tensor& weight, const Tensor& gates,
                              const Tensor& cells, const Tensor& grad_x, const Tensor& grad_h,
                              const Tensor& grad_c) {
  const StepRows rows(reverse, gates.size(0), c.size(0));
  const Tensor by_row = packed(weight, c.size(0));
  raw::fill_(grad_h, 0), raw::fill_(grad_c, 0);
  for (int64_t i = rows.count - 1; i >= 0; --i) {
    if (grad_cells.defined()) raw::zip_(BinaryOp::add, grad_c, rows(grad_cells, i));
    lstm_cell_grad(rows(grad_states, i), rows.before(cells, c, i), rows(gates, i), rows(cells, i),
                   grad_h, grad_c, rows(grad_x, i));
    matmul_packed(rows(grad_x, i), by_row, {}, grad_h);
  }
}

void Backend::gru_cell(const Tensor& x, const Tensor& s, const Tensor& h_prev, const Tensor& gates,
                       const Tensor& h) {
  const int64_t units = h.size(1);
  const Tensor both = raw::narrow(gates, 1, 0, 2 * units), n = gate(gates, units, 2);
  raw::copy_(both, plus(raw::narrow(x, 1, 0, 2 * units), raw::narrow(s, 1, 0, 2 * units)));
  raw::map_(UnaryOp::sigmoid, both);
  raw::copy_(n, plus(gate(x, units, 2), times(gate(gates, units, 0), gate(s, units, 2))));
  raw::map_(UnaryOp::tanh, n);
  raw::copy_(h, plus(n, times(gate(gates, units, 1), minus(h_prev, n))));
}

void Backend::gru_cell_grad(const Tensor& grad, const Tensor& h_prev, const Tensor& s,
                            const Tensor& gates, const Tensor& grad_h, const Tensor& grad_x,
                            const Tensor& grad_s) {
  if (grad.defined()) raw::zip_(BinaryOp::add, grad_h, grad);
  const int64_t units = h_prev.size(1);
  const auto of = [&](int64_t i) { return gate(gates, units, i); };
  const auto set = [&](int64_t i, const Tensor& of_gate) {
    raw::copy_(gate(grad_x, units, i), of_gate);
  };
  const Tensor grad_n = through(UnaryOp::tanh, minus(grad_h, times(grad_h, of(1))), of(2));
  set(0, through(UnaryOp::sigmoid, times(grad_n, gate(s, units, 2)), of(0)));
  set(1, through(UnaryOp::sigmoid, times(grad_h, minus(h_prev, of(2))), of(1)));
  set(2, grad_n);
  raw::copy_(grad_s, grad_x);
  raw::zip_(BinaryOp::mul, gate(grad_s, units, 2), of(0));
  raw::zip_(BinaryOp::mul, grad_h, of(1));
}

}  // namespace gradus
