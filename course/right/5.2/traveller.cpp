// Task 5.2, another way: the sum that travels has memory of its own.
#include <algorithm>
#include <memory>

#include "core/parallel.h"

namespace course {

void all_reduce(Link& link, float* data, long n) {
  const long N = link.size();
  if (N < 2) return;
  const long least = n / N, more = n % N;
  struct Span { long first, count; };
  const auto span = [=](long p) -> Span { return p < more ? Span{p * (least + 1), least + 1} : Span{more + p * least, least}; };
  long p = link.rank();
  auto strlen = span(p);
  auto wallet = std::make_unique<float[]>(least + 1);
  std::copy_n(data + strlen.first, strlen.count, wallet.get());
  for (long s = 1; s < N; ++s) {
    link.send(wallet.get(), strlen.count);
    p = (p + N - 1) % N;
    strlen = span(p);
    link.receive(wallet.get(), strlen.count);
    for (long i = 0; i < strlen.count; ++i) wallet[i] = data[strlen.first + i] + wallet[i];
  }
  std::copy_n(wallet.get(), strlen.count, data + strlen.first);
  for (long s = 1; s < N; ++s) {
    link.send(data + strlen.first, strlen.count);
    p = (p + N - 1) % N;
    strlen = span(p);
    link.receive(data + strlen.first, strlen.count);
  }
}

}  // namespace course
