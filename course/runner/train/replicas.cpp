// A stage of ./train: four replicas of a linear layer, each in a thread, which add up their gradients by the step of task 5.3,
// or with TRAIN_RING by the ring of task 5.2.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "core/cpu.h"
#include "core/parallel.h"
#include "runner/train/images.h"

namespace {

constexpr int kReplicas = 4;
constexpr float kRate = 0.1f;

// A linear layer: w (classes, inputs), then b. Products are those of task 1.4.
class Linear final : public course::Replica {
 public:
  Linear(long inputs, long classes) : inputs_(inputs), classes_(classes), w_(static_cast<size_t>((inputs + 1) * classes)) {}
  float* weights() override { return w_.data(); }
  long count() const { return static_cast<long>(w_.size()); }

  void gradient(float* out, const float* x, const float* y, long rows) override {
    const auto matmul = [](float* to, const course::Mat& a, const course::Mat& b, long m, long n, long k) {
      course::cpu::matmul(to, a, b, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
    };
    std::vector<float> off(static_cast<size_t>(rows * classes_));
    matmul(off.data(), {x, inputs_, 1}, {w_.data(), 1, inputs_}, rows, classes_, inputs_);
    for (long i = 0; i < rows * classes_; ++i) {
      off[static_cast<size_t>(i)] += w_[static_cast<size_t>(inputs_ * classes_ + i % classes_)] - y[i];
      loss += static_cast<double>(off[static_cast<size_t>(i)]) * off[static_cast<size_t>(i)];
    }
    matmul(out, {off.data(), 1, classes_}, {x, inputs_, 1}, classes_, inputs_, rows);
    float* const b = out + inputs_ * classes_;
    std::fill_n(b, classes_, 0.0f);
    for (long i = 0; i < rows * classes_; ++i) b[i % classes_] += off[static_cast<size_t>(i)];
  }

  double loss = 0;  // summed over what gradient() saw

 private:
  const long inputs_, classes_;
  std::vector<float> w_;
};

void in_threads(int n, const std::function<void(int i)>& body) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      try {
        body(i);
      } catch (...) {
        errors[static_cast<size_t>(i)] = std::current_exception();
      }
    });
  for (std::thread& each : threads) each.join();
  for (const std::exception_ptr& each : errors)
    if (each != nullptr) std::rethrow_exception(each);
}

#ifdef TRAIN_RING
// What lies between a rank and the next one.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable filled;
  std::deque<std::vector<float>> messages;
};

class ThreadLink final : public course::Link {
 public:
  ThreadLink(int rank, std::vector<Mailbox>& boxes) : rank_(rank), boxes_(boxes) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(boxes_.size()); }
  void send(const float* data, long n) override {
    Mailbox& box = boxes_[static_cast<size_t>((rank_ + 1) % size())];
    const std::lock_guard lock(box.mutex);
    box.messages.emplace_back(data, data + n);
    box.filled.notify_one();
  }
  void receive(float* data, long n) override {
    Mailbox& box = boxes_[static_cast<size_t>(rank_)];
    std::unique_lock lock(box.mutex);
    if (!box.filled.wait_for(lock, std::chrono::seconds(20), [&] { return !box.messages.empty(); }))
      throw std::runtime_error("a rank waits for a message that nobody sends");
    if (static_cast<long>(box.messages.front().size()) != n) throw std::runtime_error("a message has another length than receive() wants");
    std::copy_n(box.messages.front().data(), n, data);
    box.messages.pop_front();
  }

 private:
  int rank_;
  std::vector<Mailbox>& boxes_;
};

void step(std::vector<Linear>& replicas, const course::Batch& batch) {
  std::vector<Mailbox> boxes(kReplicas);
  in_threads(kReplicas, [&](int rank) {
    Linear& mine = replicas[static_cast<size_t>(rank)];
    const long share = batch.rows / kReplicas, first = rank * share;
    const long rows = rank + 1 < kReplicas ? share : batch.rows - first;
    std::vector<float> sum(static_cast<size_t>(mine.count()));
    if (rows > 0) mine.gradient(sum.data(), batch.x + first * batch.x_width, batch.y + first * batch.y_width, rows);
    ThreadLink link(rank, boxes);
    course::all_reduce(link, sum.data(), mine.count());
    for (long i = 0; i < mine.count(); ++i) mine.weights()[i] -= kRate / static_cast<float>(batch.rows) * sum[static_cast<size_t>(i)];
  });
}
#else
void step(std::vector<Linear>& replicas, const course::Batch& batch) {
  std::vector<course::Replica*> all;
  for (Linear& each : replicas) all.push_back(&each);
  course::data_parallel_step(all, in_threads, batch, replicas[0].count(), kRate);
}
#endif

}  // namespace

int main() {
  return train::run([](const train::Task& task) {
    const train::Images& images = task.learned;
    const std::vector<float> y = images.targets();
    std::vector<Linear> replicas(kReplicas, Linear(images.inputs, images.classes));
    for (long epoch = 0; epoch < task.epochs; ++epoch) {
      for (long first = 0; first < images.rows; first += task.batch)
        step(replicas, {images.x.data() + first * images.inputs, y.data() + first * images.classes, std::min(task.batch, images.rows - first),
                        images.inputs, images.classes});
      double loss = 0;
      for (Linear& each : replicas) loss += each.loss, each.loss = 0;
      for (const Linear& each : replicas)
        if (!std::equal(replicas[0].weights(), replicas[0].weights() + each.count(), const_cast<Linear&>(each).weights()))
          throw std::runtime_error("the replicas have different weights");
      train::tell(epoch, loss / static_cast<double>(images.rows * images.classes), train::linear_accuracy(task.tested, replicas[0].weights()));
    }
  });
}
