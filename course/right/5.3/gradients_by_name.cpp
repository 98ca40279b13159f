// Task 5.3, another way: std::ldiv, a pointer to a member, and locals with names of functions.
#include <cstdlib>
#include <memory>

#include "core/parallel.h"

namespace course {

void data_parallel_step(const std::vector<Replica*>& replicas, const ForEach& for_each, const Batch& batch,
                        long parameters, float lr) {
  const int count = int(replicas.size());
  const ldiv_t share = std::ldiv(batch.rows, count);
  std::vector<std::unique_ptr<float[]>> read(count);
  const auto call = &Replica::gradient;
  for_each(count, [&, abs = share.quot](int exp) mutable {
    const bool longer = exp < share.rem;
    if (!longer && abs == 0) return;
    const long begin = exp * abs + (longer ? exp : share.rem);
    read[exp] = std::make_unique<float[]>(parameters);
    (replicas[exp]->*call)(read[exp].get(), batch.x + begin * batch.x_width, batch.y + begin * batch.y_width, abs + longer);
  });
  for (long p = 0; p < parameters; ++p) {
    float sum = 0;
    for (int i = 0; i < count; ++i)
      if (read[i]) sum = sum + read[i][p];
    const float mean = sum / float(batch.rows);
    for (Replica* each : replicas) each->weights()[p] = each->weights()[p] - lr * mean;
  }
}

}  // namespace course
