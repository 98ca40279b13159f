// Draws of indices by weights. They are made on the CPU, so that a seed gives the same ones
// whatever device the weights are on.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gradus/tensor/factories.h"
#include "gradus/tensor/philox.h"
#include "gradus/tensor/raw.h"

namespace gradus {

namespace {

// So many neighbouring weights are summed apart.
constexpr int64_t kGroup = 64;

// The sums of the weights of the groups up to each.
std::vector<double> sums_of_groups(const double* weights, int64_t n) {
  std::vector<double> sums;
  sums.reserve(static_cast<size_t>((n + kGroup - 1) / kGroup));
  double sum = 0;
  for (int64_t first = 0; first < n; first += kGroup) {
    constexpr int64_t kLanes = 8;
    double lane[kLanes] = {};
    const int64_t end = std::min(first + kGroup, n), whole = end - (end - first) % kLanes;
    for (int64_t i = first; i < whole; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) lane[l] += weights[i + l];
    for (int64_t i = whole; i < end; ++i) lane[i - whole] += weights[i];
    sum += std::accumulate(lane, lane + kLanes, 0.0);
    sums.push_back(sum);
  }
  return sums;
}

// Each sample is where a uniform number falls among the sums of the weights: in a group, and among
// those of the group.
void draw_replacing(const double* weights, int64_t n, const double* uniform, int64_t samples,
                    int64_t* out) {
  const std::vector<double> sums = sums_of_groups(weights, n);
  for (int64_t s = 0; s < samples; ++s) {
    const double target = uniform[s] * sums.back();
    // A product that rounds up to the total falls to the last group with a weight above zero.
    auto group = std::upper_bound(sums.begin(), sums.end(), target);
    if (group == sums.end()) group = std::lower_bound(sums.begin(), sums.end(), sums.back());
    const int64_t first = (group - sums.begin()) * kGroup, end = std::min(first + kGroup, n);
    double sum = group == sums.begin() ? 0 : group[-1];
    // As does what rounding leaves between the last sum here and that of the group.
    for (int64_t i = first; i < end && sum <= target; ++i) {
      sum += weights[i];
      if (weights[i] > 0) out[s] = i;
    }
  }
}

// The first of exponential clocks, each with its weight as rate, to ring is drawn in proportion to
// the weights; the next one is drawn from the others (Efraimidis and Spirakis, "Weighted random
// sampling with a reservoir", 2006).
void draw_different(const double* weights, int64_t n, const double* uniform, int64_t samples,
                    int64_t* out) {
  std::vector<double> rings(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    rings[i] = weights[i] > 0 ? -std::log1p(-uniform[i]) / weights[i] : HUGE_VAL;
  std::vector<int64_t> order(rings.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + samples, order.end(), [&](int64_t a, int64_t b) {
    return rings[a] < rings[b] || (rings[a] == rings[b] && a < b);
  });
  std::copy_n(order.begin(), samples, out);
}

void check_weights(const double* weights, int64_t n, int64_t samples, bool replacement) {
  int64_t positive = 0, wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    positive += weights[i] > 0;
    wrong += !(weights[i] >= 0 && weights[i] <= std::numeric_limits<double>::max());
  }
  for (int64_t i = 0; wrong > 0 && i < n; ++i)
    check(weights[i] >= 0 && std::isfinite(weights[i]),
          "multinomial: probability tensor contains either `inf`, `nan` or element < 0: element ",
          i, " of a row is ", weights[i]);
  check(positive > 0,
        "multinomial: invalid multinomial distribution (sum of probabilities <= 0) in a row; "
        "expected one above 0 at least");
  check(replacement || samples <= positive, "multinomial: ", samples,
        " different samples were asked for, and a row has ", positive,
        " weights above 0; draw with replacement");
}

}  // namespace

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   std::optional<Generator> generator) {
  check<TypeError>(self.is_floating_point(), "multinomial: the weights have dtype ",
                   self.scalar_type(), ", expected a floating point one");
  check(self.dim() == 1 || self.dim() == 2, "multinomial: self has shape ", self.sizes(),
        ", expected 1 or 2 dimensions");
  check(num_samples > 0, "multinomial: num_samples = ", num_samples,
        ", expected a positive number");
  const int64_t rows = self.dim() == 2 ? self.size(0) : 1, n = self.size(-1);
  check(rows == 0 || n > 0, "multinomial: there are no weights to draw by");
  check(replacement || num_samples <= n, "multinomial: ", num_samples,
        " different samples were asked for, and there are ", n, " weights; draw with replacement");

  const Tensor weights = raw::contiguous(raw::to(raw::to(self, kCPU), kDouble));
  const int64_t draws = replacement ? num_samples : n;  // of each row
  for (int64_t row = 0; row < rows; ++row)
    check_weights(weights.data_ptr<double>() + row * n, n, num_samples, replacement);
  const Tensor uniform = raw::empty({rows, draws}, kDouble, kCPU);
  const PhiloxState state = raw::take(generator, self.device(), uniform.numel());
  if (uniform.numel() > 0) backend(uniform).random(Distribution::uniform, 0, 1, state, uniform);
  Dims shape = self.impl().sizes;
  shape[self.dim() - 1] = num_samples;
  const Tensor out = raw::empty(shape, kLong, kCPU);
  for (int64_t row = 0; row < rows; ++row)
    (replacement ? draw_replacing : draw_different)(
        weights.data_ptr<double>() + row * n, n, uniform.data_ptr<double>() + row * draws,
        num_samples, out.data_ptr<int64_t>() + row * num_samples);
  return raw::to(out, self.device());
}

Tensor Tensor::multinomial(int64_t num_samples, bool replacement,
                           std::optional<Generator> generator) const {
  return gradus::multinomial(*this, num_samples, replacement, std::move(generator));
}

}  // namespace gradus
