// A stage of ./train: two layers, whose gradients come from the automatic differentiation of module 2.
#include <algorithm>
#include <random>

#include "core/operations.h"
#include "runner/train/images.h"

using course::Tensor;

namespace {

constexpr long kHidden = 32;

Tensor random(const course::Dims& sizes, float range, std::mt19937& generator) {
  const Tensor out = course::make(sizes);
  std::uniform_real_distribution<float> uniform(-range, range);
  float* const to = out.write();
  for (long i = 0; i < out.count(); ++i) to[i] = uniform(generator);
  return course::leaf(out);
}

Tensor rows_of(const std::vector<float>& x, long first, long rows, long width) {
  const Tensor out = course::make({rows, width});
  std::copy_n(x.data() + first * width, rows * width, out.write());
  return out;
}

struct Model {
  std::vector<Tensor> parameters;  // w1, b1, w2, b2

  Tensor forward(const Tensor& x) const {
    const Tensor hidden = course::tanh(course::matmul(x, parameters[0]) + parameters[1]);
    return course::matmul(hidden, parameters[2]) + parameters[3];
  }
  void step(float lr) {
    for (const Tensor& each : parameters) {
      const Tensor gradient = each.node->gradient;
      if (gradient.empty()) continue;
      float* const to = each.write();
      for (long i = 0; i < each.count(); ++i) to[i] -= lr * gradient.read()[i];
      each.node->gradient = {};
    }
  }
};

}  // namespace

int main() {
  return train::run([](const train::Task& task) {
    const train::Images& images = task.learned;
    const std::vector<float> y = images.targets();
    std::mt19937 generator(1);
    Model model{{random({images.inputs, kHidden}, 0.2f, generator), random({1, kHidden}, 0, generator),
                 random({kHidden, images.classes}, 0.2f, generator), random({1, images.classes}, 0, generator)}};
    for (long epoch = 0; epoch < task.epochs; ++epoch) {
      double sum = 0;
      for (long first = 0; first < images.rows; first += task.batch) {
        const long rows = std::min(task.batch, images.rows - first);
        const Tensor x = rows_of(images.x, first, rows, images.inputs), target = rows_of(y, first, rows, images.classes);
        const Tensor loss = course::sum(course::square(model.forward(x) - target));
        course::backward(loss.node.get(), course::make({}, 1 / static_cast<float>(rows)));
        model.step(0.1f);
        sum += loss.read()[0];
      }
      const Tensor scores = model.forward(rows_of(task.tested.x, 0, task.tested.rows, images.inputs));
      train::tell(epoch, sum / static_cast<double>(images.rows * images.classes), train::accuracy(task.tested, scores.read()));
    }
  });
}
