// Runs task 5.3 with replicas whose gradient is the sum of y * x over their rows; with "x_width" it is 0, and only places are
// looked at.
#include <memory>
#include <stdexcept>
#include <string>

#include "core/parallel.h"
#include "runner/huge_array.h"
#include "runner/runner.h"

namespace {

int running = -1;  // the number of the body that for_each runs; -1 outside of for_each

class Recorded final : public course::Replica {
 public:
  Recorded(std::vector<float> w, const course::Batch& batch, bool places_alone)
      : width_(w.size()), w_(std::move(w)), batch_(batch), places_alone_(places_alone) {
    w_.insert(w_.begin(), kGuard), w_.push_back(kGuard);
  }
  float* weights() override { return w_.data() + 1; }
  std::vector<float> take() const {
    if (w_.front() != kGuard || w_.back() != kGuard) throw std::runtime_error("it wrote outside of the weights");
    return {w_.begin() + 1, w_.end() - 1};
  }

  void gradient(float* out, const float* x, const float* y, long rows) override {
    const long start = x - batch_.x, first = batch_.x_width > 0 ? start / batch_.x_width : 0;
    if (rows <= 0) throw std::runtime_error("gradient was called for " + std::to_string(rows) + " rows");
    if (first < 0 || first + rows > batch_.rows || x != batch_.x + first * batch_.x_width || y != batch_.y + first * batch_.y_width)
      throw std::runtime_error("gradient got x and y that do not begin at the same row of the batch, or too many rows");
    bodies.push_back(running);
    firsts.push_back(first);
    counts.push_back(rows);
    for (size_t p = 0; p < width_; ++p) out[p] = 0;
    for (long at = 0; at < rows * batch_.x_width && !places_alone_; ++at)
      out[at % batch_.x_width] += x[at] * y[at / batch_.x_width * batch_.y_width];
  }

  std::vector<long> bodies, firsts, counts;  // of each call

 private:
  static constexpr float kGuard = 12345;  // before and behind the weights

  size_t width_;
  std::vector<float> w_;
  course::Batch batch_;
  bool places_alone_;
};

}  // namespace

void run(const Message& in, Message& out) {
  const std::vector<float> x = in.floats("x"), y = in.floats("y"), w = in.floats("w");
  course::Batch batch{x.data(), y.data(), in.number("rows"), static_cast<long>(w.size()), in.number("y_width")};
  std::unique_ptr<HugeArray> huge_x, huge_y;
  const bool places_alone = in.has("x_width");
  if (places_alone) {
    batch.x_width = in.number("x_width");
    huge_x = std::make_unique<HugeArray>(batch.rows * batch.x_width, 1024);
    huge_y = std::make_unique<HugeArray>(batch.rows * batch.y_width, 1024);
    batch.x = huge_x->data(), batch.y = huge_y->data();
  }
  const std::vector<long> order = in.longs("order");  // in which the bodies are run
  std::vector<std::unique_ptr<Recorded>> owned;
  std::vector<course::Replica*> replicas;
  for (size_t i = 0; i < order.size(); ++i) {
    owned.push_back(std::make_unique<Recorded>(w, batch, places_alone));
    replicas.push_back(owned.back().get());
  }
  const course::ForEach for_each = [&](int n, const std::function<void(int)>& body) {
    std::vector<long> mine = order;
    if (n != static_cast<int>(order.size())) {
      mine.clear();
      for (int i = 0; i < n; ++i) mine.push_back(i);
    }
    for (const long i : mine) {
      running = static_cast<int>(i);
      body(static_cast<int>(i));
    }
    running = -1;
  };
  running = -1;
  course::data_parallel_step(replicas, for_each, batch, static_cast<long>(w.size()), in.real("lr"));

  std::vector<float> weights;
  std::vector<long> calls, firsts, counts, bodies;
  for (const auto& each : owned) {
    for (const float weight : each->take()) weights.push_back(weight);
    calls.push_back(static_cast<long>(each->firsts.size()));
    firsts.insert(firsts.end(), each->firsts.begin(), each->firsts.end());
    counts.insert(counts.end(), each->counts.begin(), each->counts.end());
    bodies.insert(bodies.end(), each->bodies.begin(), each->bodies.end());
  }
  out.floats("w", weights);
  out.longs("calls", calls);
  out.longs("firsts", firsts);
  out.longs("counts", counts);
  out.longs("bodies", bodies);
}
