// Task 7.6: a model of characters is trained, and writes text.
#include <algorithm>
#include <cmath>

#include "core/transformer.h"

namespace course {

float cross_entropy(std::vector<float>& dlogits, const std::vector<float>& logits,
                    const std::vector<int>& targets) {
  // BEGIN SOLUTION 7.6
  const size_t rows = targets.size(), width = logits.size() / rows;
  dlogits.resize(logits.size());
  double loss = 0;
  for (size_t row = 0; row < rows; ++row) {
    const float *from = logits.data() + row * width,
                maximum = *std::max_element(from, from + width);
    const auto target = static_cast<size_t>(targets[row]);
    float total = 0;
    for (size_t i = 0; i < width; ++i) total += std::exp(from[i] - maximum);
    for (size_t i = 0; i < width; ++i)
      dlogits[row * width + i] =
          (std::exp(from[i] - maximum) / total - (i == target)) / static_cast<float>(rows);
    loss += maximum + std::log(total) - from[target];
  }
  return static_cast<float>(loss / static_cast<double>(rows));
  // END SOLUTION 7.6
}

std::vector<float> train_text(TextModel& model, const std::vector<int>& text, int pieces, int steps,
                              Random& random) {
  // BEGIN SOLUTION 7.6
  const long length = model.window(), starts = static_cast<long>(text.size()) - length;
  std::vector<float> losses, dlogits;
  for (int step = 0; step < steps; ++step) {
    std::vector<int> ids, targets;
    for (int piece = 0; piece < pieces; ++piece) {
      const auto begin =
          text.begin() + static_cast<long>(random.next() * static_cast<float>(starts));
      ids.insert(ids.end(), begin, begin + length);
      targets.insert(targets.end(), begin + 1, begin + length + 1);
    }
    model.zero_grad();
    losses.push_back(
        cross_entropy(dlogits, model.forward(ids, pieces, static_cast<int>(length)), targets));
    model.backward(dlogits);
    model.step();
  }
  return losses;
  // END SOLUTION 7.6
}

std::vector<int> write_text(TextModel& model, const std::vector<int>& prompt, int count,
                            float temperature, Random& random) {
  // BEGIN SOLUTION 7.6
  std::vector<int> text = prompt;
  const auto width = static_cast<size_t>(model.vocabulary());
  for (int written = 0; written < count; ++written) {
    const auto length = std::min<long>(model.window(), static_cast<long>(text.size()));
    const std::vector<float> logits =
        model.forward({text.end() - length, text.end()}, 1, static_cast<int>(length));
    const auto last = logits.end() - static_cast<long>(width);
    const auto best = std::max_element(last, logits.end());
    size_t next = static_cast<size_t>(best - last);
    if (temperature > 0) {
      std::vector<float> parts;
      float total = 0, sum = 0;
      for (size_t i = 0; i < width; ++i)
        total += parts.emplace_back(std::exp((last[static_cast<long>(i)] - *best) / temperature));
      const float mark = random.next() * total;
      for (next = 0; next + 1 < width && (sum += parts[next]) <= mark;) ++next;
    }
    text.push_back(static_cast<int>(next));
  }
  return {text.end() - count, text.end()};
  // END SOLUTION 7.6
}

}  // namespace course
