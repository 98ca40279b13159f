// Counts the blocks of operator new, and fills each with NaN, when it is given out and when it is given back: so
// who reads what nobody has written, or what is no longer there, sees it.
#include "runner/memory.h"

#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {
std::atomic<long> held, bytes, most;
std::atomic<size_t> left{SIZE_MAX};  // bytes of further blocks

// Larger blocks have pages of their own, which go when the block is given back: a use after that ends the program. Without
// this call malloc keeps pages of a size that was given back once.
[[maybe_unused]] const int own_pages = mallopt(M_MMAP_THRESHOLD, 128 << 10);
}  // namespace

long blocks_held() { return held; }
long bytes_held() { return bytes; }
long most_bytes_held() { return most; }
void forget_most() { most = bytes.load(); }
void limit_blocks(size_t bytes) { left = bytes; }

void* operator new(size_t size) {
  void* const memory = size <= left ? std::malloc(size) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  if (left != SIZE_MAX) left -= size;
  ++held;
  const long now = bytes += static_cast<long>(malloc_usable_size(memory));
  for (long known = most; now > known && !most.compare_exchange_weak(known, now);) {
  }
  return std::memset(memory, 0xff, size);
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) {
    const size_t size = malloc_usable_size(memory);
    --held, bytes -= static_cast<long>(size);
    std::memset(memory, 0xff, size);
    asm volatile("" : : "r"(memory) : "memory");  // or the compiler leaves out what is written before free
  }
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
