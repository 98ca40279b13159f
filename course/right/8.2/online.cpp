// Task 8.2, another way: one pass over the cache with a sum that is scaled anew at each larger
// score, and the prompt apart from what is written.
#include <cmath>

#include "core/language.h"

namespace course {

std::vector<float> attend(KvCache& cache, const Projected& rows, int heads, int d) {
  const int width = heads * d, count = static_cast<int>(rows.q.size()) / width;
  std::vector<float> out;
  for (int i = 0; i < count; ++i) {
    for (int e = 0; e < width; ++e) {
      cache.k.push_back(rows.k.at(static_cast<size_t>(i * width + e)));
      cache.v.push_back(rows.v.at(static_cast<size_t>(i * width + e)));
    }
    for (int h = 0; h < heads; ++h) {
      const float* const q = rows.q.data() + i * width + h * d;
      std::vector<double> sums(static_cast<size_t>(d));
      double largest = -INFINITY, total = 0;
      for (size_t at = static_cast<size_t>(h * d); at < cache.k.size();
           at += static_cast<size_t>(width)) {
        double score = 0;
        for (int e = 0; e < d; ++e) score += q[e] * cache.k[at + static_cast<size_t>(e)];
        score /= std::sqrt(d);
        if (score > largest) {
          const double scale = std::exp(largest - score);
          total *= scale;
          for (double& each : sums) each *= scale;
          largest = score;
        }
        const double weight = std::exp(score - largest);
        total += weight;
        for (int e = 0; e < d; ++e)
          sums[static_cast<size_t>(e)] += weight * cache.v[at + static_cast<size_t>(e)];
      }
      for (const double each : sums) out.push_back(static_cast<float>(each / total));
    }
  }
  return out;
}

namespace {

class Writer {
 public:
  explicit Writer(Decoder& decoder)
      : decoder_(decoder), caches_(static_cast<size_t>(decoder.layers())) {}

  int read(const std::vector<int>& tokens) {
    auto x = decoder_.embed(tokens, length_);
    length_ += static_cast<long>(tokens.size());
    int layer = 0;
    for (KvCache& cache : caches_) {
      const auto seen = attend(cache, decoder_.project(layer, x), decoder_.heads(), decoder_.d());
      x = decoder_.finish(layer++, x, seen);
    }
    x.erase(x.begin(), x.end() - decoder_.heads() * decoder_.d());
    const auto logits = decoder_.logits(x);
    size_t best = 0;
    for (size_t i = 1; i < logits.size(); ++i)
      if (logits[i] > logits[best]) best = i;
    return static_cast<int>(best);
  }

 private:
  Decoder& decoder_;
  std::vector<KvCache> caches_;
  long length_ = 0;
};

}  // namespace

std::vector<int> generate(Decoder& decoder, const std::vector<int>& prompt, int count) {
  std::vector<int> text;
  if (count <= 0) return text;
  Writer writer(decoder);
  text.push_back(writer.read(prompt));
  for (int i = 1; i < count; ++i) text.push_back(writer.read({text.back()}));
  return text;
}

}  // namespace course
