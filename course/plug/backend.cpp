// StudentBackend: how the functions of Backend become calls of the student's code.
#include "plug/backend.h"

#include <limits>
#include <optional>
#include <vector>

#include "core/autodiff.h"
#include "gradus/tensor/raw/raw.h"

namespace course::plug {

namespace raw = gradus::raw;
using gradus::BinaryOp, gradus::ReduceOp, gradus::UnaryOp;

namespace {

bool fits(const Tensor& x) { return x.scalar_type() == gradus::kFloat && x.dim() <= kMaxRank; }
bool fits(const Operand& x) { return x.is_number() || fits(*x.tensor); }

Layout layout_of(const Tensor& x) {
  Layout out;
  out.rank = static_cast<int>(x.dim());
  for (size_t d = 0; d < x.sizes().size(); ++d)
    out.sizes[d] = x.sizes()[d], out.strides[d] = x.strides()[d];
  return out;
}

float* data(const Tensor& x) { return x.data_ptr<float>(); }

std::optional<Op1> op_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::neg:
      return Op1::neg;
    case UnaryOp::exp:
      return Op1::exp;
    case UnaryOp::log:
      return Op1::log;
    case UnaryOp::relu:
      return Op1::relu;
    case UnaryOp::sigmoid:
      return Op1::sigmoid;
    case UnaryOp::tanh:
      return Op1::tanh;
    case UnaryOp::square:
      return Op1::square;
    default:
      return std::nullopt;
  }
}

std::optional<Op2> op_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
      return Op2::add;
    case BinaryOp::sub:
      return Op2::sub;
    case BinaryOp::mul:
      return Op2::mul;
    case BinaryOp::div:
      return Op2::div;
    case BinaryOp::maximum:
      return Op2::maximum;
    default:
      return std::nullopt;
  }
}

// A number as a tensor without dimensions on the device. Moving it there is no computation.
Tensor number_on(const gradus::Device& device, float value) {
  const Tensor on_cpu = raw::empty({}, gradus::kFloat, gradus::kCPU);
  *data(on_cpu) = value;
  return device.is_cpu() ? on_cpu : raw::to(on_cpu, device);
}

}  // namespace

bool StudentBackend::solved(const char* task, const std::function<void()>& call) {
  if (unsolved_.count(task) != 0) return false;
  try {
    call();
  } catch (const NotImplemented&) {
    unsolved_.insert(task);
    return false;
  }
  ++tasks_[task];
  return true;
}

void StudentBackend::count(const char* name, bool is_student,
                           const std::function<void()>& library) {
  if (!is_student) library();
  ++(is_student ? calls_[name].student : calls_[name].library);
}

// --- Element by element
bool StudentBackend::map_with(Op1 op, const Tensor& x, const Tensor& out) {
  if (!fits(x) || !fits(out)) return false;
  const Tensor from = raw::expand(x, out.sizes());
  return solved(code_.map_task,
                [&] { code_.map(op, data(out), layout_of(out), data(from), layout_of(from)); });
}

bool StudentBackend::zip_with(Op2 op, const Operand& x, const Operand& y, const Tensor& out) {
  if (!fits(x) || !fits(y) || !fits(out)) return false;
  const auto operand = [&](const Operand& it) {
    return raw::expand(it.is_number() ? number_on(out.device(), it.number.to<float>()) : *it.tensor,
                       out.sizes());
  };
  const Tensor left = operand(x), right = operand(y);
  return solved(code_.zip_task, [&] {
    code_.zip(op, data(out), layout_of(out), data(left), layout_of(left), data(right),
              layout_of(right));
  });
}

bool StudentBackend::fill_with(const Tensor& out, float value) {
  return fits(out) && map_with(Op1::identity, number_on(out.device(), value), out);
}

void StudentBackend::fill(const Tensor& out, const Scalar& value) {
  count("fill", fits(out) && fill_with(out, value.to<float>()), [&] { inner_.fill(out, value); });
}

void StudentBackend::copy(const Tensor& src, const Tensor& dst) {
  count("copy", map_with(Op1::identity, src, dst), [&] { inner_.copy(src, dst); });
}

void StudentBackend::map(UnaryOp op, const Tensor& x, const Tensor& out) {
  const auto known = op_of(op);
  count("map", known && map_with(*known, x, out), [&] { inner_.map(op, x, out); });
}

void StudentBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const auto known = op_of(op);
  count("zip", known && zip_with(*known, x, y, out), [&] { inner_.zip(op, x, y, out); });
}

// The derivatives of task 2.1 are functions on the host. On a GPU those that are made of products
// are made of zip.
bool StudentBackend::slope_with(Op1 op, const Tensor& grad, const Tensor& x, const Tensor& y,
                                const Tensor& out) {
  if (!fits(grad) || !fits(out) || (x.defined() && !fits(x)) || (y.defined() && !fits(y)))
    return false;
  if (!out.device().is_cpu()) {
    switch (op) {
      case Op1::identity:
        return map_with(Op1::identity, grad, out);
      case Op1::neg:
        return map_with(Op1::neg, grad, out);
      case Op1::exp:
        return zip_with(Op2::mul, grad, y, out);
      case Op1::log:
        return zip_with(Op2::div, grad, x, out);
      case Op1::square:
        return zip_with(Op2::mul, grad, x, out) && zip_with(Op2::mul, out, Scalar(2), out);
      default:
        return false;
    }
  }
  const Tensor slopes = raw::empty(out.sizes(), gradus::kFloat, gradus::kCPU);
  const Tensor xs = x.defined() ? raw::contiguous(raw::expand(x, out.sizes())) : slopes;
  const Tensor ys = y.defined() ? raw::contiguous(raw::expand(y, out.sizes())) : slopes;
  return solved("2.1",
                [&] {
                  for (int64_t i = 0; i < out.numel(); ++i)
                    data(slopes)[i] = slope(op, data(xs)[i], data(ys)[i]);
                }) &&
         zip_with(Op2::mul, grad, slopes, out);
}

void StudentBackend::map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                              const Tensor& out) {
  const auto known = op_of(op);
  count("map_grad", known && slope_with(*known, grad, x, y, out),
        [&] { inner_.map_grad(op, grad, x, y, out); });
}

// --- Reductions: the reduced dimensions last, and all of them at once
bool StudentBackend::reduce_with(ReduceOp op, const Tensor& x, const Tensor& out) {
  const bool sums = op == ReduceOp::sum || op == ReduceOp::mean;
  if (!fits(x) || !fits(out) || !(sums || op == ReduceOp::amax) || x.numel() == 0) return false;
  std::vector<int64_t> order, reduced;
  for (int64_t d = 0; d < x.dim(); ++d) (x.size(d) == out.size(d) ? order : reduced).push_back(d);
  order.insert(order.end(), reduced.begin(), reduced.end());
  const Tensor turned = raw::permute(x, order);
  Tensor rows = turned;
  if (!turned.is_contiguous()) {
    rows = raw::empty(turned.sizes(), gradus::kFloat, x.device());
    if (!map_with(Op1::identity, turned, rows)) return false;
  }
  const int64_t count = out.numel(), length = x.numel() / count;
  const Tensor result =
      out.is_contiguous() ? out : raw::empty(out.sizes(), gradus::kFloat, out.device());
  const Tensor scratch = raw::empty({count * code_.scratch_row}, gradus::kFloat, out.device());
  const float start = sums ? 0 : -std::numeric_limits<float>::infinity();
  return solved(code_.reduce_task,
                [&] {
                  code_.reduce(sums ? Op2::add : Op2::maximum, start, data(result), data(rows),
                               count, length, data(scratch));
                }) &&
         (op != ReduceOp::mean ||
          zip_with(Op2::div, result, Scalar(static_cast<double>(length)), result)) &&
         (result.is_same(out) || map_with(Op1::identity, result, out));
}

void StudentBackend::reduce(ReduceOp op, const Tensor& x, const Tensor& out) {
  count("reduce", reduce_with(op, x, out), [&] { inner_.reduce(op, x, out); });
}

// --- Products
bool StudentBackend::product_with(const Tensor& a, const Tensor& b, const Tensor& out) {
  const auto m = static_cast<int>(out.size(1)), n = static_cast<int>(out.size(2)),
             k = static_cast<int>(a.size(2));
  const auto row_major = [&](const Tensor& x) {
    if (x.is_contiguous()) return x;
    const Tensor copied = raw::empty(x.sizes(), gradus::kFloat, x.device());
    return map_with(Op1::identity, x, copied) ? copied : raw::contiguous(x);
  };
  for (const Code::Product& product : code_.products) {
    if (product.task == nullptr || unsolved_.count(product.task) != 0) continue;
    const Tensor left = product.any_strides ? a : row_major(a),
                 right = product.any_strides ? b : row_major(b);
    const auto of = [](const Tensor& x, int64_t i) {
      return Mat{data(x) + i * x.strides()[0], x.strides()[1], x.strides()[2]};
    };
    const bool done = solved(product.task, [&] {
      for (int64_t i = 0; i < out.size(0); ++i)
        product.matmul(data(out) + i * m * n, of(left, i), of(right, i), m, n, k);
    });
    if (done) return true;
  }
  return false;
}

void StudentBackend::matmul(const Tensor& a, const Tensor& b, const Tensor& bias,
                            const Tensor& out) {
  const bool done = fits(a) && fits(b) && fits(out) && product_with(a, b, out) &&
                    (!bias.defined() || zip_with(Op2::add, out, bias, out));
  count("matmul", done, [&] { inner_.matmul(a, b, bias, out); });
}

// --- Optimizers
namespace {
using Coefficients = gradus::UpdateCoefficients<gradus::UpdateOp::sgd, float>;
Coefficients coefficients_of(const gradus::UpdatedParameter& it) {
  return gradus::coefficients_of<gradus::UpdateOp::sgd, float>(it.coefficients);
}
bool is_first(const gradus::UpdatedParameter& it) { return (it.fresh & 1u) != 0; }
}  // namespace

// A launch for all parameters that have the same settings as the one before them.
bool StudentBackend::step_at_once(int states, ArrayRef<gradus::UpdatedParameter> parameters) {
  Params table;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const gradus::UpdatedParameter& it = parameters[i];
    const Coefficients c = coefficients_of(it);
    table.list[table.count++] = {data(it.parameter), data(it.gradient),
                                 states > 0 ? data(it.states[0]) : nullptr, it.parameter.numel()};
    const bool goes_on = i + 1 < parameters.size() && table.count < kMaxParams &&
                         parameters[i + 1].coefficients == it.coefficients &&
                         is_first(parameters[i + 1]) == is_first(it);
    if (goes_on) continue;
    const Sgd sgd{c.lr, states > 0 ? c.momentum : 0, c.weight_decay};
    if (!solved(code_.sgd_task, [&] { code_.sgd(table, sgd, is_first(it)); })) return false;
    table = {};
  }
  return true;
}

// velocity = momentum velocity + gradient + weight_decay weight; weight -= lr velocity
bool StudentBackend::step_by_zip(int states, const gradus::UpdatedParameter& it) {
  const Coefficients c = coefficients_of(it);
  const Tensor change = raw::empty(it.parameter.sizes(), gradus::kFloat, it.parameter.device());
  const Tensor velocity = states > 0 ? it.states[0] : change;
  bool done = zip_with(Op2::mul, it.parameter, Scalar(c.weight_decay), change) &&
              zip_with(Op2::add, it.gradient, change, change);
  if (done && states > 0)
    done = is_first(it) ? map_with(Op1::identity, change, velocity)
                        : zip_with(Op2::mul, velocity, Scalar(c.momentum), velocity) &&
                              zip_with(Op2::add, velocity, change, velocity);
  return done && zip_with(Op2::mul, velocity, Scalar(c.lr), change) &&
         zip_with(Op2::sub, it.parameter, change, it.parameter);
}

bool StudentBackend::update_with(int states, ArrayRef<gradus::UpdatedParameter> parameters) {
  for (const gradus::UpdatedParameter& it : parameters) {
    const Coefficients c = coefficients_of(it);
    const bool is_plain =
        c.sign == 1 && c.nesterov == 0 && (states == 0 || is_first(it) || c.share == 1);
    if (!is_plain || !fits(it.parameter)) return false;
  }
  if (code_.sgd != nullptr) return step_at_once(states, parameters);
  // What the steps need is either solved before the first of them, or none begins.
  if (unsolved_.count(code_.zip_task) != 0 || unsolved_.count(code_.map_task) != 0) return false;
  for (const gradus::UpdatedParameter& it : parameters)
    if (!step_by_zip(states, it)) return false;
  return true;
}

void StudentBackend::update(gradus::UpdateOp op, int states,
                            ArrayRef<gradus::UpdatedParameter> parameters) {
  const bool is_sgd = op == gradus::UpdateOp::sgd;
  count("update", is_sgd && update_with(states, parameters),
        [&] { inner_.update(op, states, parameters); });
}

}  // namespace course::plug
