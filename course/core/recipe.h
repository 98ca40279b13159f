// Task 4.5: what makes a training succeed, on the host, for extra points.
#pragma once

#include <vector>

#include "core/transformer.h"  // Random: numbers from 0 to below 1

namespace course {

// Task 4.5. First weights, a schedule, clipped gradients and dropout.
// The first weights of a layer, w (outputs, inputs), row-major: w[i] = (2 u - 1) * gain * sqrt(3 /
// inputs), where u is random.next(), called once for each in order. Their variance is gain^2 /
// inputs.
void initialize(float* w, long outputs, long inputs, float gain, Random& random);

// The learning rate of step number `step` (0, 1, ...) of `steps`. It rises along a line in the
// first `warmup` steps, lr * (step + 1) / warmup. Then it falls along half a wave of the cosine to
// `least`: least + (lr - least) * (1 + cos(pi * t)) / 2, where t goes from 0 at step `warmup` to 1
// at step `steps`. From there on it is `least`. REQUIRES: 0 <= warmup < steps.
struct Schedule {
  float lr = 1e-3f, least = 0;
  long warmup = 0, steps = 1;
};
float learning_rate(const Schedule& schedule, long step);

// Gradients of one parameter.
struct Gradient {
  float* data = nullptr;
  long size = 0;
};
// The norm of all gradients together, the root of the sum of their squares. Where it is above
// `most` and finite, all of them are multiplied by most / norm. Returns the norm as it was.
float clip_gradients(const std::vector<Gradient>& gradients, float most);

// In training each number becomes 0 with probability p, and the others are divided by 1 - p. In
// evaluation nothing changes. REQUIRES: 0 <= p < 1.
class Dropout {
 public:
  explicit Dropout(float p) : p_(p) {}
  void train(bool on) { training_ = on; }
  // One call of next() for each number, in order: those below p become 0. None in evaluation.
  std::vector<float> forward(const std::vector<float>& x, Random& random);
  // The gradient of the x that forward() got last, from that of its result.
  std::vector<float> backward(const std::vector<float>& dy) const;

 private:
  float p_;
  bool training_ = true;
  std::vector<float> factors_;  // of the last forward(): 0 or 1 / (1 - p); empty in evaluation
};

}  // namespace course
