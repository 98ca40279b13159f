// at::parallel_for and at::parallel_reduce, on the threads that the CPU's operations use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gradus/tensor/base/threads.h"

namespace gradus {

namespace detail {
// The part of a parallel_for that this thread runs; -1 outside of one.
inline thread_local int running_part = -1;

struct RunningPart {
  explicit RunningPart(int part) { running_part = part; }
  ~RunningPart() { running_part = before; }
  RunningPart(const RunningPart&) = delete;
  RunningPart& operator=(const RunningPart&) = delete;
  const int before = running_part;
};

}  // namespace detail

// x / y, rounded up.
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }

namespace detail {
inline int64_t part_size(int64_t begin, int64_t end, int64_t grain_size) {
  return std::max({divup(end - begin, usable_threads()), grain_size, int64_t{1}});
}
}  // namespace detail

inline void init_num_threads() {}  // they start with the first loop
inline bool in_parallel_region() { return detail::running_part >= 0; }
// The number of the part that the innermost parallel_for runs here, from 0 on.
inline int get_thread_num() { return std::max(detail::running_part, 0); }

// Calls f(first, last) for even parts of [begin, end), one for each thread. A part has grain_size
// elements or more. f gets all of it within another loop. Errors: rethrows one exception of f.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  if (begin >= end) return;
  const int64_t size = detail::part_size(begin, end, grain_size);
  detail::run_parts(divup(end - begin, size), [&](int64_t part) {
    const detail::RunningPart running(static_cast<int>(part));
    const int64_t first = begin + part * size;
    f(first, std::min(first + size, end));
  });
}

// Combines what f(first, last, identity) gives for the same parts, from the first to the last.
template <class Number, class F, class Combine>
Number parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, Number identity, const F& f,
                       const Combine& combine) {
  if (begin >= end) return identity;
  const int64_t size = detail::part_size(begin, end, grain_size);
  std::vector<Number> parts(static_cast<size_t>(divup(end - begin, size)), identity);
  parallel_for(begin, end, grain_size, [&](int64_t first, int64_t last) {
    parts[static_cast<size_t>((first - begin) / size)] = f(first, last, identity);
  });
  Number result = identity;
  for (const Number& part : parts) result = combine(result, part);
  return result;
}

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
