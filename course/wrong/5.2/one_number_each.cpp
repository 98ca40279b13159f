// LOSES: messages
// A ring of its own for each message of one number: as many bytes, but far more messages.
#include <algorithm>

#include "core/parallel.h"

namespace course {

void all_reduce(Link& link, float* data, long n) {
  const int rank = link.rank(), size = link.size();
  const auto wrapped = [&](int part) { return (part % size + size) % size; };
  const auto begin_of = [&](int part) { return part * (n / size) + std::min<long>(part, n % size); };
  const auto length_of = [&](int part) { return n / size + (part < n % size); };
  const auto send = [&](int part) { for (long i = 0; i < length_of(wrapped(part)); ++i) link.send(data + begin_of(wrapped(part)) + i, 1); };

  std::vector<float> theirs(length_of(0));
  for (int step = 0; step < size - 1; ++step) {
    send(rank - step);
    const int part = wrapped(rank - step - 1);
    for (long i = 0; i < length_of(part); ++i) link.receive(theirs.data() + i, 1);
    for (long i = 0; i < length_of(part); ++i) data[begin_of(part) + i] += theirs[i];
  }
  for (int step = 0; step < size - 1; ++step) {
    send(rank + 1 - step);
    const int part = wrapped(rank - step);
    for (long i = 0; i < length_of(part); ++i) link.receive(data + begin_of(part) + i, 1);
  }
}

}  // namespace course
