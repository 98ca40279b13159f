// Task 5.6, another way: the places of all parts first, and sums in a copy of all data.
#include <numeric>

#include "core/parallel.h"

namespace course {

static std::vector<long> places(int size, long n) {
  std::vector<long> out(1, 0);
  for (long i = 0; i < size; ++i)
    out.push_back((i + 1) * (n / size) + (i + 1 < n % size ? i + 1 : n % size));
  return out;
}

void reduce_scatter(Link& link, float* out, const float* data, long n) {
  const int size = link.size(), rank = link.rank();
  const std::vector<long> at = places(size, n);
  std::vector<float> mine(data, data + n);
  for (int next = (rank + size - 1) % size; next != rank; next = (next + size - 1) % size) {
    link.send(mine.data() + at[next], at[next + 1] - at[next]);
    const int got = (next + size - 1) % size;
    std::vector<float> theirs(at[got + 1] - at[got]);
    link.receive(theirs.data(), static_cast<long>(theirs.size()));
    for (std::size_t i = 0; i < theirs.size(); ++i) mine[at[got] + i] += theirs[i];
  }
  for (long i = at[rank]; i < at[rank + 1]; ++i) *out++ = mine[i];
}

void all_gather(Link& link, float* out, const float* part, long n) {
  const int size = link.size();
  const std::vector<long> at = places(size, n);
  int now = link.rank();
  for (long i = at[now]; i < at[now + 1]; ++i) out[i] = *part++;
  for (int left = size; --left > 0;) {
    link.send(&out[at[now]], at[now + 1] - at[now]);
    now = now > 0 ? now - 1 : size - 1;
    link.receive(&out[at[now]], at[now + 1] - at[now]);
  }
}

}  // namespace course
