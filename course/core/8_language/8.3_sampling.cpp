// Task 8.3: the next token is drawn, from those that are likely enough.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/language.h"

namespace course {

std::vector<float> probabilities(const std::vector<float>& logits, const Sampling& sampling) {
  // BEGIN SOLUTION 8.3
  if (!(sampling.temperature >= 0) || sampling.top_k < 0 ||
      !(sampling.top_p >= 0 && sampling.top_p <= 1))
    throw std::invalid_argument("probabilities: there is no such temperature, top_k or top_p");
  std::vector<size_t> order(logits.size());  // the likeliest first
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  std::vector<float> out(logits.size());
  if (sampling.temperature == 0) {
    out[order[0]] = 1;
    return out;
  }
  if (sampling.top_k > 0) order.resize(std::min(order.size(), static_cast<size_t>(sampling.top_k)));
  std::vector<double> terms;
  double total = 0, sum = 0;
  for (const size_t each : order) {
    const double distance = logits[each] - logits[order[0]];
    total += terms.emplace_back(std::exp(distance / sampling.temperature));
  }
  size_t kept = 0;
  do sum += terms[kept++];
  while (kept < terms.size() && sum < sampling.top_p * total);
  for (size_t i = 0; i < kept; ++i) out[order[i]] = static_cast<float>(terms[i] / sum);
  return out;
  // END SOLUTION 8.3
}

int sample(const std::vector<float>& logits, const Sampling& sampling, Random& random) {
  // BEGIN SOLUTION 8.3
  const std::vector<float> chances = probabilities(logits, sampling);
  const double mark = sampling.temperature > 0 ? random.next() : 0;
  double sum = 0;
  int token = 0;
  for (size_t i = 0; i < chances.size() && sum <= mark; ++i) {
    if (chances[i] == 0) continue;
    token = static_cast<int>(i);  // the last of all where rounding leaves no other
    sum += chances[i];
  }
  return token;
  // END SOLUTION 8.3
}

}  // namespace course
