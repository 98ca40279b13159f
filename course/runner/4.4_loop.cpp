// Runs task 4.4: trains a linear model without a bias on a virtual device, and tells what happened in which order.
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "runner/runner.h"
#include "runner/virtual_device.h"

namespace {

// y = x w^T. Its parameters are numbers of the host that only queued work touches. Its gradients hold what an earlier
// training left there.
class LinearModel final : public course::Model {
 public:
  LinearModel(VirtualDevice& device, std::vector<float> w, long outputs, float lr, long most_rows)
      : device_(device), w_(std::move(w)), slopes_(w_.size(), 1000.0f), lr_(lr), outputs_(outputs),
        inputs_(static_cast<long>(w_.size()) / outputs), most_rows_(most_rows), y_(device.hold(std::vector<float>(static_cast<size_t>(most_rows * outputs)))) {}

  long inputs() const override { return inputs_; }
  long outputs() const override { return outputs_; }

  void zero_grad() override {
    device_.events += 'z';
    device_.queue([this] { std::fill(slopes_.begin(), slopes_.end(), 0.0f); });
  }

  const float* forward(const float* x, long rows) override {
    device_.events += 'f';
    if (rows <= 0 || rows > most_rows_) throw std::runtime_error("forward got " + std::to_string(rows) + " rows");
    x_ = x, rows_ = rows;
    row_counts.push_back(rows);
    device_.queue([=, this] {
      for (long r = 0; r < rows; ++r) {
        seen.push_back(device_.read(x + r * inputs_, "forward: x"));
        for (long o = 0; o < outputs_; ++o) {
          float sum = 0;
          for (long i = 0; i < inputs_; ++i) sum += device_.read(x + r * inputs_ + i, "forward: x") * weight(o, i);
          device_.write(y_ + r * outputs_ + o, sum, "forward: y");
        }
      }
    });
    return y_;
  }

  void backward(const float* dy) override {
    device_.events += 'b';
    if (x_ == nullptr) throw std::runtime_error("backward was called before forward");
    device_.queue([=, this, x = x_, rows = rows_] {
      for (long r = 0; r < rows; ++r)
        for (long i = 0; i < inputs_ * outputs_; ++i)
          slopes_[static_cast<size_t>(i)] += device_.read(dy + r * outputs_ + i / inputs_, "backward: dy") *
                                             device_.read(x + r * inputs_ + i % inputs_, "backward: x");
    });
  }

  void step() override {
    device_.events += 's';
    device_.queue([this] {
      for (size_t i = 0; i < w_.size(); ++i) w_[i] -= lr_ * slopes_[i];
    });
  }

  const std::vector<float>& weights() const { return w_; }
  std::vector<long> row_counts;  // of each forward
  std::vector<float> seen;       // the first number of each row that forward got

 private:
  float weight(long o, long i) const { return w_[static_cast<size_t>(o * inputs_ + i)]; }

  VirtualDevice& device_;
  std::vector<float> w_, slopes_;
  float lr_;
  long outputs_, inputs_, most_rows_, rows_ = 0;
  float* y_;
  const float* x_ = nullptr;
};

}  // namespace

void run(const Message& in, Message& out) {
  VirtualDevice device(in.text("device") == "cpu" ? VirtualDevice::Kind::cpu : VirtualDevice::Kind::gpu);
  const long rows = in.number("rows"), batch = in.number("batch");
  LinearModel model(device, in.floats("w"), in.number("outputs"), in.real("lr"), std::min(batch, rows));
  // On the heap, of exactly these sizes.
  const std::vector<float> x = in.floats("x"), y = in.floats("y");
  const auto losses = course::train(device, model, {x.data(), y.data(), rows}, batch, static_cast<int>(in.number("epochs")));
  device.finish();
  out.floats("losses", losses);
  out.floats("w", model.weights());
  out.longs("rows", model.row_counts);
  out.floats("seen", model.seen);
  out.text("events", device.events);
  out.number("uploaded", device.uploaded);
  out.number("held", device.held);
}
