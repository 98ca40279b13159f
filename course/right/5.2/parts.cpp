// Task 5.2, another way: a copy of all parts.
#include <algorithm>
#include <functional>

#include "core/parallel.h"

namespace course {

void all_reduce(Link& link, float* data, long n) {
  const int size = link.size(), rank = link.rank();
  if (size == 1) return;
  std::vector<long> bounds{0};
  for (int p = 0; p < size; ++p) bounds.push_back(bounds.back() + (n + size - 1 - p) / size);
  std::vector<std::vector<float>> parts;
  for (int p = 0; p < size; ++p) parts.emplace_back(data + bounds[p], data + bounds[p + 1]);
  const auto before = [size](int p) { return p == 0 ? size - 1 : p - 1; };
  int have = rank;
  for (int step = 1; step < size; ++step) {
    link.send(parts[have].data(), parts[have].size());
    have = before(have);
    std::vector<float> fresh(parts[have].size());
    link.receive(fresh.data(), fresh.size());
    std::transform(fresh.begin(), fresh.end(), parts[have].begin(), parts[have].begin(), std::plus<float>{});
  }
  for (int step = 1; step < size; ++step) {
    link.send(parts[have].data(), parts[have].size());
    have = before(have);
    link.receive(parts[have].data(), parts[have].size());
  }
  for (const auto& part : parts) data = std::copy(part.begin(), part.end(), data);
}

}  // namespace course
