// Task 8.3, another way: all in float, with std::nth_element for k, a sort of what is left, and
// draws in the order of likelihood.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/language.h"

namespace course {

namespace {

using Likely =
    std::pair<float, int>;  // minus the logit, and the token: the smallest is the likeliest

std::vector<std::pair<int, float>> kept(const std::vector<float>& logits, const Sampling& how) {
  if (std::isnan(how.temperature) || how.temperature < 0.0f || how.top_k < 0 ||
      std::isnan(how.top_p) || how.top_p < 0 || how.top_p > 1)
    throw std::invalid_argument("no such sampling");
  std::vector<Likely> all;
  for (const float each : logits) all.emplace_back(-each, static_cast<int>(all.size()));
  size_t k = all.size();
  if (how.temperature == 0)
    k = 1;
  else if (how.top_k != 0)
    k = std::min(k, static_cast<size_t>(how.top_k));
  if (k < all.size()) {
    std::nth_element(all.begin(), all.begin() + static_cast<long>(k), all.end());
    all.resize(k);
  }
  std::sort(all.begin(), all.end());
  std::vector<std::pair<int, float>> out;
  if (how.temperature == 0) return {{all[0].second, 1.0f}};
  float total = 0;
  for (const auto& [minus, token] : all) {
    out.emplace_back(token, std::exp((all[0].first - minus) / how.temperature));
    total += out.back().second;
  }
  if (how.top_p < 1) {
    float sum = 0;
    size_t stay = 0;
    while (stay == 0 || (stay < out.size() && sum / total < how.top_p)) sum += out[stay++].second;
    out.resize(stay);
    total = sum;
  }
  for (auto& [token, chance] : out) chance /= total;
  return out;
}

}  // namespace

std::vector<float> probabilities(const std::vector<float>& logits, const Sampling& sampling) {
  std::vector<float> out(logits.size(), 0.0f);
  for (const auto& [token, chance] : kept(logits, sampling))
    out[static_cast<size_t>(token)] = chance;
  return out;
}

int sample(const std::vector<float>& logits, const Sampling& sampling, Random& random) {
  const auto left = kept(logits, sampling);
  if (sampling.temperature == 0) return left[0].first;
  float mark = random.next();
  for (const auto& [token, chance] : left)
    if ((mark -= chance) < 0) return token;
  return left[0].first;
}

}  // namespace course
