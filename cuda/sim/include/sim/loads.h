// Loads and stores with a hint to the caches, which the simulator has none of: plain accesses.
// Inlined by force, so that they are seen as the kernel's own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <host_defines.h>

namespace gradus::cuda::sim {

template <class T>
concept AccessedAtOnce = std::is_trivially_copyable_v<T> && std::has_single_bit(sizeof(T)) &&
                             sizeof(T) <= 16 &&
                         alignof(T) == sizeof(T);

// Reports an address that is no multiple of `alignment`, and stops the thread.
void refuse_alignment(const void* address, size_t alignment);

// Checks the address of the access that follows. Code that is compiled without -fsanitize=alignment
// needs it for more than 8 bytes: the access itself shows smaller alignments alone.
[[gnu::always_inline, gnu::artificial]] inline void require_aligned(const void* address,
                                                                    size_t alignment) {
  if (reinterpret_cast<uintptr_t>(address) % alignment != 0) [[unlikely]]
    refuse_alignment(address, alignment);
}

// A vector of bytes, since compilers access a struct piece by piece when they can.
template <class T>
using Bytes [[gnu::vector_size(sizeof(T)), gnu::may_alias]] = unsigned char;

}  // namespace gradus::cuda::sim

#define GRADUS_LOAD(name)                                      \
  template <gradus::cuda::sim::AccessedAtOnce T>               \
  __forceinline__ T name(const T* from) {                      \
    using Bytes = gradus::cuda::sim::Bytes<T>;                 \
    gradus::cuda::sim::require_aligned(from, sizeof(T));       \
    const Bytes bytes = *reinterpret_cast<const Bytes*>(from); \
    return std::bit_cast<T>(bytes);                            \
  }

GRADUS_LOAD(__ldg)
GRADUS_LOAD(__ldca)
GRADUS_LOAD(__ldcg)
GRADUS_LOAD(__ldcs)
GRADUS_LOAD(__ldcv)
GRADUS_LOAD(__ldlu)

#undef GRADUS_LOAD

#define GRADUS_STORE(name)                                          \
  template <gradus::cuda::sim::AccessedAtOnce T>                    \
  __forceinline__ void name(T* to, std::type_identity_t<T> value) { \
    using Bytes = gradus::cuda::sim::Bytes<T>;                      \
    gradus::cuda::sim::require_aligned(to, sizeof(T));              \
    *reinterpret_cast<Bytes*>(to) = std::bit_cast<Bytes>(value);    \
  }

GRADUS_STORE(__stcg)
GRADUS_STORE(__stcs)
GRADUS_STORE(__stwb)
GRADUS_STORE(__stwt)

#undef GRADUS_STORE
