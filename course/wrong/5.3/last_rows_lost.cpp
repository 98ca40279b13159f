// LOSES: mean, shards, few rows
// All replicas take rows / count rows: the rest of the batch is not used.
#include "core/parallel.h"

namespace course {

void data_parallel_step(const std::vector<Replica*>& replicas, const ForEach& for_each, const Batch& batch,
                        long parameters, float lr) {
  const int count = static_cast<int>(replicas.size());
  const auto begin_of = [&](int i) { return i * (batch.rows / count); };
  std::vector<std::vector<float>> gradients(count, std::vector<float>(parameters));
  for_each(count, [&](int i) {
    const long begin = begin_of(i), rows = begin_of(i + 1) - begin;
    if (rows > 0)
      replicas[i]->gradient(gradients[i].data(), batch.x + begin * batch.x_width, batch.y + begin * batch.y_width, rows);
  });

  std::vector<float>& sum = gradients[0];
  for (int i = 1; i < count; ++i)
    for (long p = 0; p < parameters; ++p) sum[p] += gradients[i][p];
  for (Replica* const replica : replicas)
    for (long p = 0; p < parameters; ++p) replica->weights()[p] -= lr * (sum[p] / batch.rows);
}

}  // namespace course
