// LinearModel: a linear layer, its gradients, and its optimizer.
#include "core/devices.h"

namespace course {

LinearModel::LinearModel(Device& device, std::vector<float> w, const std::vector<float>& b, long most_rows, const Sgd& sgd)
    : device_(device), in_(static_cast<long>(w.size() / b.size())), out_(static_cast<long>(b.size())),
      count_((in_ + 1) * out_), sgd_(sgd), parameters_(device, count_), gradients_(device, count_),
      fresh_(device, count_), velocities_(device, count_), y_(device, most_rows * out_) {
  w.insert(w.end(), b.begin(), b.end());
  device.upload(parameters_, w.data(), count_);
}

void LinearModel::zero_grad() { device_.zero(gradients_, count_); }

const float* LinearModel::forward(const float* x, long rows) {
  x_ = x, rows_ = rows;
  device_.matmul(y_, {x, in_, 1}, {parameters_, 1, in_}, rows, out_, in_);
  const Layout y{2, {rows, out_}, {out_, 1}};
  device_.zip(Op2::add, y_, y, y_, y, parameters_ + in_ * out_, {2, {rows, out_}, {0, 1}});
  return y_;
}

void LinearModel::backward(const float* dy) {
  linear_backward(device_, nullptr, fresh_, fresh_ + in_ * out_, dy, x_, parameters_, rows_, in_, out_);
  const Layout all{1, {count_}, {1}};
  device_.zip(Op2::add, gradients_, all, gradients_, all, fresh_, all);
}

void LinearModel::step() {
  Params params;
  for (const long start : {0L, in_ * out_}) {
    const long size = start == 0 ? in_ * out_ : out_;
    params.list[params.count++] = {parameters_ + start, gradients_ + start, velocities_ + start, size};
  }
  device_.sgd(params, sgd_, first_step_);
  first_step_ = false;
}

std::vector<float> LinearModel::parameters() const {
  std::vector<float> out(static_cast<size_t>(count_));
  device_.download(out.data(), parameters_, count_);
  return out;
}

}  // namespace course
