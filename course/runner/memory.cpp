// Counts the blocks of operator new, and fills each with NaN, so that who reads what nobody has
// written sees it.
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
  if (memory != nullptr) --held, bytes -= static_cast<long>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
