// Loops over several cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace gradus::cpu {

// Elements of a cheap loop, such as x + y, that outweigh the waking of threads.
inline constexpr int64_t kGrain = 32768;

// a / b, rounded up. REQUIRES: a >= 0, b > 0.
inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Threads that a parallel loop uses; 1 inside of one.
int thread_count();

// The grain for a loop whose results do not depend on where its chunks end. Waking the threads
// costs as much as about `grain` rounds: a loop of up to that many is one chunk. A longer one
// becomes even shares of all threads, since waking one thread wakes all. A share is a multiple of
// `unit`: of 64, so that elements make whole cache lines, or of 1 where a round takes a whole line.
inline int64_t share_of(int64_t count, int64_t grain, int64_t unit = 64) {
  if (count <= grain) return grain;
  constexpr int64_t kSharesOfGrain = 8;
  const int64_t most = (count * kSharesOfGrain - 1) / grain + 1;
  const int64_t even = divide_up(count, std::min<int64_t>(thread_count(), most));
  return divide_up(even, unit) * unit;
}

// Calls body(context, i) for i in [0, count), on several threads.
void run_chunks(int64_t count, void (*body)(void* context, int64_t chunk), void* context);

// Calls f(first, last) for the chunks [begin + i * grain, begin + (i + 1) * grain) of [begin, end):
// their borders do not depend on the number of threads. The caller runs a single chunk itself.
// REQUIRES: grain > 0. Errors: rethrows an exception of f; other chunks may be left out then.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  if (end - begin <= grain) {
    if (begin < end) f(begin, end);
    return;
  }
  const auto chunk = [&](int64_t i) {
    const int64_t first = begin + i * grain;
    f(first, first + std::min(grain, end - first));
  };
  using Chunk = decltype(chunk);
  run_chunks((end - begin - 1) / grain + 1,
             [](void* context, int64_t i) { (*static_cast<Chunk*>(context))(i); },
             const_cast<std::remove_const_t<Chunk>*>(&chunk));
}

}  // namespace gradus::cpu
