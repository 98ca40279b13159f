// Memory for the elements of tensors. Some of what is freed is kept for the next tensors, since the
// system's allocator is slow. A small block takes it as long as the addition of a thousand
// elements. A large one, whose pages it fills with zeros, takes several times as long as an
// addition of its elements.
#pragma once

#include <atomic>
#include <cstddef>

namespace gradus::cpu {

// Called with the bytes that each block is asked for; what it throws is the error of take_block.
// Null calls nothing. Tests count memory by it, and let allocations fail.
inline std::atomic<void (*)(size_t nbytes)> on_block{nullptr};

// Memory of at least nbytes, of any content. The memory starts at a cache line from 1 KiB on, and
// above 1 MiB at a huge page if the system has any. Errors: OutOfMemoryError.
void* take_block(size_t nbytes);
// Gives it back. Up to 1 MiB this thread keeps some, 8 MiB in all; above that the process keeps
// what was freed last, 1 GiB in all. REQUIRES: block is of take_block(nbytes).
void give_block(void* block, size_t nbytes);

}  // namespace gradus::cpu
