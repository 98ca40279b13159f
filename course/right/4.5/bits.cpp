// Task 4.5, another way: the sum of squares is scaled by the largest, and backward divides.
#include <algorithm>
#include <cmath>

#include "core/recipe.h"

namespace course {

void initialize(float* w, long outputs, long inputs, float gain, Random& random) {
  const double deviation = gain / std::sqrt(double(inputs)), width = deviation * std::sqrt(12.0);
  std::generate(w, w + outputs * inputs,
                [&] { return static_cast<float>((random.next() - 0.5) * width); });
}

float learning_rate(const Schedule& s, long step) {
  if (step < s.warmup) return s.lr / static_cast<float>(s.warmup) * static_cast<float>(step + 1);
  const double t = std::min(1.0, double(step - s.warmup) / double(s.steps - s.warmup));
  const double half = std::cos(t * std::acos(-1.0) / 2);  // (1 + cos 2a) / 2 is its square
  return static_cast<float>(s.lr * half * half + s.least * (1 - half * half));
}

float clip_gradients(const std::vector<Gradient>& gradients, float most) {
  float largest = 0;
  for (auto [data, size] : gradients)
    for (const float* at = data; at != data + size; ++at)
      largest = std::isnan(*at) || std::isnan(largest) ? NAN : std::max(largest, std::fabs(*at));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  float sum = 0;
  for (auto [data, size] : gradients)
    for (long i = 0; i < size; ++i) sum += data[i] / largest * (data[i] / largest);
  const float norm = largest * std::sqrt(sum);
  if (norm <= most) return norm;
  for (auto [data, size] : gradients)
    std::transform(data, data + size, data, [&](float each) { return each / norm * most; });
  return norm;
}

std::vector<float> Dropout::forward(const std::vector<float>& x, Random& random) {
  std::vector<float> out(x);
  factors_.assign(training_ ? x.size() : 0, 1.0f);
  for (float& factor : factors_)
    if (random.next() < p_) factor = 0;
  for (size_t i = 0; i < factors_.size(); ++i) out[i] = factors_[i] > 0 ? x[i] / (1 - p_) : 0.0f;
  return out;
}

std::vector<float> Dropout::backward(const std::vector<float>& dy) const {
  if (factors_.empty()) return dy;
  std::vector<float> dx;
  for (const float each : dy) dx.push_back(factors_[dx.size()] > 0 ? each / (1 - p_) : 0.0f);
  return dx;
}

}  // namespace course
