// HugeArray: more numbers than fit into memory, for what counts them by an int.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <stdexcept>

#include "runner/memory.h"
#include "runner/message.h"

// n numbers. There is room for those of the last five of `parts` parts, and all others are 0.
class HugeArray {
 public:
  HugeArray(long n, long parts)
      : bytes_((static_cast<size_t>(n) * sizeof(float) / kPage + 1) * kPage) {
    start_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const size_t used = (static_cast<size_t>(n / parts) * sizeof(float) * 5 / kPage + 1) * kPage;
    if (start_ == MAP_FAILED || mprotect(start_ + bytes_ - used, used, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("the runner got no memory");
  }
  ~HugeArray() { munmap(start_, bytes_); }
  HugeArray(const HugeArray&) = delete;
  HugeArray& operator=(const HugeArray&) = delete;
  float* data() const { return reinterpret_cast<float*>(start_); }

 private:
  static constexpr size_t kPage = 64 << 10;
  size_t bytes_;
  char* start_;
};

// Calls body, which gets little memory. Whether it wanted more, such as for a copy of all numbers.
template <class Body>
bool wants_too_much(Body body) {
  bool too_much = false;
  limit_blocks(128 << 20);
  try {
    body();
  } catch (const std::bad_array_new_length&) {
    throw;
  } catch (const std::bad_alloc&) {
    too_much = true;
  }
  limit_blocks(SIZE_MAX);
  return too_much;
}

// "marks" at "places" of the numbers.
inline void mark(const Message& in, float* numbers) {
  const std::vector<long> places = in.longs("places");
  const std::vector<float> marks = in.floats("marks");
  for (size_t i = 0; i < places.size(); ++i) numbers[places[i]] = marks[i];
}
