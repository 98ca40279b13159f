// Collects elements that lie apart, and converts them.
#include "gradus/cpu/walk/load.h"

#include <cstring>

#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// Four at a time, of which no address waits for another.
template <class T>
void collect(int64_t n, const T* from, int64_t step, T* to) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, from += 4 * step) {
    to[i] = from[0];
    to[i + 1] = from[step];
    to[i + 2] = from[2 * step];
    to[i + 3] = from[3 * step];
  }
  for (; i < n; ++i, from += step) to[i] = *from;
}

}  // namespace

void load(size_t size, Loop convert, int64_t n, const std::byte* from, int64_t step,
          std::byte* to) {
  alignas(64) std::byte stage[kMostLoaded * sizeof(double)];
  const void* in[] = {from};
  if (step != 1) {
    std::byte* const collected = convert ? stage : to;
    visit_real_bits(size, [&]<class T>(TypeTag<T>) {
      collect(n, reinterpret_cast<const T*>(from), step, reinterpret_cast<T*>(collected));
    });
    in[0] = collected;
  }
  if (convert)
    convert(n, to, in);
  else if (step == 1)
    std::memcpy(to, from, static_cast<size_t>(n) * size);
}

}  // namespace gradus::cpu
