// Task 4.5: what makes a training succeed: first weights, a schedule, clipped gradients, dropout.
#include <cmath>

#include "core/recipe.h"

namespace course {

void initialize(float* w, long outputs, long inputs, float gain, Random& random) {
  // BEGIN SOLUTION 4.5
  const float bound = gain * std::sqrt(3 / static_cast<float>(inputs));
  for (long i = 0; i < outputs * inputs; ++i) w[i] = (2 * random.next() - 1) * bound;
  // END SOLUTION 4.5
}

float learning_rate(const Schedule& schedule, long step) {
  // BEGIN SOLUTION 4.5
  const auto& [lr, least, warmup, steps] = schedule;
  if (step < warmup) return lr * static_cast<float>(step + 1) / static_cast<float>(warmup);
  if (step >= steps) return least;
  const double t = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
  const double part = (1 + std::cos(3.14159265358979 * t)) / 2;
  return static_cast<float>(least + (lr - least) * part);
  // END SOLUTION 4.5
}

float clip_gradients(const std::vector<Gradient>& gradients, float most) {
  // BEGIN SOLUTION 4.5
  double squares = 0;  // a float's largest number is 3e38, which is the square of 2e19
  for (const Gradient& each : gradients)
    for (long i = 0; i < each.size; ++i) squares += double{each.data[i]} * each.data[i];
  const double norm = std::sqrt(squares);
  if (norm > most && std::isfinite(norm))
    for (const Gradient& each : gradients)
      for (long i = 0; i < each.size; ++i)
        each.data[i] = static_cast<float>(each.data[i] * (most / norm));
  return static_cast<float>(norm);
  // END SOLUTION 4.5
}

std::vector<float> Dropout::forward(const std::vector<float>& x, Random& random) {
  // BEGIN SOLUTION 4.5
  factors_.clear();
  if (!training_) return x;
  std::vector<float> out;
  for (const float each : x) {
    const float factor = random.next() < p_ ? 0 : 1 / (1 - p_);
    factors_.push_back(factor);
    out.push_back(factor == 0 ? 0 : each * factor);
  }
  return out;
  // END SOLUTION 4.5
}

std::vector<float> Dropout::backward(const std::vector<float>& dy) const {
  // BEGIN SOLUTION 4.5
  std::vector<float> dx = dy;
  for (size_t i = 0; i < factors_.size(); ++i) dx[i] *= factors_[i];
  return dx;
  // END SOLUTION 4.5
}

}  // namespace course
