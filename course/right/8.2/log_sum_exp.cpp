// Task 8.2, another way: weights by the logarithm of their sum.
#include <algorithm>
#include <cmath>

#include "core/language.h"

namespace course {

std::vector<float> attend(KvCache& cache, const Projected& rows, int heads, int d) {
  const size_t size = static_cast<size_t>(d), width = static_cast<size_t>(heads) * size;
  const size_t count = rows.q.size() / width, before = cache.k.size() / width;
  cache.k.insert(cache.k.end(), rows.k.begin(), rows.k.end());
  cache.v.insert(cache.v.end(), rows.v.begin(), rows.v.end());
  std::vector<float> out(count * width), weights;
  for (size_t i = 0; i < count; ++i)
    for (size_t head = 0; head < width; head += size) {
      weights.clear();
      for (size_t j = 0; j <= before + i; ++j) {
        float score = 0;
        for (size_t e = head; e < head + size; ++e)
          score += rows.q[i * width + e] * cache.k[j * width + e];
        weights.push_back(score / std::sqrt(static_cast<float>(d)));
      }
      const float largest = *std::max_element(weights.begin(), weights.end());
      float total = 0;
      for (const float each : weights) total += std::exp(each - largest);
      const float lse = largest + std::log(total);
      for (size_t j = 0; j < weights.size(); ++j)
        for (size_t e = head; e < head + size; ++e)
          out[i * width + e] += std::exp(weights[j] - lse) * cache.v[j * width + e];
    }
  return out;
}

std::vector<int> generate(Decoder& decoder, const std::vector<int>& prompt, int count) {
  std::vector<KvCache> caches(static_cast<size_t>(decoder.layers()));
  const auto width = static_cast<long>(decoder.heads()) * decoder.d();
  std::vector<int> written, tokens = prompt;  // those that the layers have not read
  long place = 0;
  while (static_cast<int>(written.size()) < count) {
    std::vector<float> x = decoder.embed(tokens, place);
    place += static_cast<long>(tokens.size());
    for (int layer = 0; layer < decoder.layers(); ++layer)
      x = decoder.finish(layer, x,
                         attend(caches[static_cast<size_t>(layer)], decoder.project(layer, x),
                                decoder.heads(), decoder.d()));
    const std::vector<float> logits = decoder.logits({x.end() - width, x.end()});
    const auto best = std::max_element(logits.begin(), logits.end());
    tokens = {static_cast<int>(best - logits.begin())};
    written.push_back(tokens[0]);
  }
  return written;
}

}  // namespace course
