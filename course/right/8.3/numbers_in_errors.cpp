// Errors that tell numbers by std::to_string and std::sprintf, and sums of floats.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/language.h"

namespace course {

std::vector<float> probabilities(const std::vector<float>& logits, const Sampling& sampling) {
  const auto [temperature, top_k, top_p] = sampling;
  char text[40];
  std::sprintf(text, "top_k is %d", top_k);
  if (!(temperature >= 0))
    throw std::invalid_argument("temperature is " + std::to_string(temperature));
  if (top_k < 0) throw std::invalid_argument(text);
  if (!(top_p >= 0 && top_p <= 1))
    throw std::invalid_argument("top_p is " + std::to_string(static_cast<double>(top_p)));
  std::vector<std::pair<float, int>> order;
  for (const float each : logits) order.emplace_back(-each, static_cast<int>(order.size()));
  std::sort(order.begin(), order.end());
  if (temperature == 0) order.resize(1);
  if (top_k > 0 && top_k < static_cast<int>(order.size())) order.resize(top_k);
  std::vector<float> out(logits.size()), terms;
  double total = 0, sum = 0;
  for (const auto& [minus, token] : order)
    total += terms.emplace_back(
        temperature > 0 ? std::exp((order[0].first - minus) / temperature) : 1.0f);
  size_t kept = 0;
  do sum += terms[kept++];
  while (kept < terms.size() && sum < top_p * total);
  for (size_t i = 0; i < kept; ++i) out[order[i].second] = static_cast<float>(terms[i] / sum);
  return out;
}

int sample(const std::vector<float>& logits, const Sampling& sampling, Random& random) {
  const std::vector<float> chances = probabilities(logits, sampling);
  double left = sampling.temperature > 0 ? random.next() : 0;
  int token = 0;
  for (size_t i = 0; i < chances.size() && left >= 0; ++i)
    if (chances[i] > 0) left -= chances[i], token = static_cast<int>(i);
  return token;
}

}  // namespace course
