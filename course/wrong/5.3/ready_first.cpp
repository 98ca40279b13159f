// LOSES: bits
// The gradients are added up in the order in which the replicas end.
#include "core/parallel.h"

namespace course {

void data_parallel_step(const std::vector<Replica*>& replicas, const ForEach& for_each, const Batch& batch,
                        long parameters, float lr) {
  const int count = static_cast<int>(replicas.size());
  const auto begin_of = [&](int i) { return i * (batch.rows / count) + (i < batch.rows % count ? i : batch.rows % count); };
  std::vector<float> sum(parameters);
  for_each(count, [&](int i) {
    const long begin = begin_of(i), rows = begin_of(i + 1) - begin;
    if (rows == 0) return;
    std::vector<float> mine(parameters);
    replicas[i]->gradient(mine.data(), batch.x + begin * batch.x_width, batch.y + begin * batch.y_width, rows);
    for (long p = 0; p < parameters; ++p) sum[p] += mine[p];
  });

  for (Replica* const replica : replicas)
    for (long p = 0; p < parameters; ++p) replica->weights()[p] -= lr * (sum[p] / batch.rows);
}

}  // namespace course
