// Atomic operations on global and shared memory. The old value is the result.
#pragma once

#include <vector_types.h>

namespace gradus::cuda::sim {
enum class AtomicOp {
  add,
  sub,
  min,
  max,
  exchange,
  increment,
  decrement,
  bit_and,
  bit_or,
  bit_xor
};
template <class T>
T atomic(AtomicOp op, T* address, T value);  // for the types below
template <class T>
T compare_and_swap(T* address, T expected, T value);
}  // namespace gradus::cuda::sim

// The types that CUDA has each operation for, with the variants that order less and more: here all
// of them do as much as the strongest.
#define GRADUS_SIM_ATOMIC(name, op, type)            \
  GRADUS_SIM_ATOMIC_FUNCTION(name, op, type)         \
  GRADUS_SIM_ATOMIC_FUNCTION(name##_block, op, type) \
  GRADUS_SIM_ATOMIC_FUNCTION(name##_system, op, type)
#define GRADUS_SIM_ATOMIC_FUNCTION(name, op, type)                                     \
  __forceinline__ type name(type* address, type value) {                               \
    return gradus::cuda::sim::atomic(gradus::cuda::sim::AtomicOp::op, address, value); \
  }
#define GRADUS_SIM_ATOMIC_INTEGERS(name, op) \
  GRADUS_SIM_ATOMIC(name, op, int)           \
  GRADUS_SIM_ATOMIC(name, op, unsigned)      \
  GRADUS_SIM_ATOMIC(name, op, unsigned long long)
GRADUS_SIM_ATOMIC_INTEGERS(atomicAdd, add)
GRADUS_SIM_ATOMIC(atomicAdd, add, float)
GRADUS_SIM_ATOMIC(atomicAdd, add, double)
GRADUS_SIM_ATOMIC(atomicAdd, add, float2)
GRADUS_SIM_ATOMIC(atomicAdd, add, float4)
GRADUS_SIM_ATOMIC(atomicSub, sub, int)
GRADUS_SIM_ATOMIC(atomicSub, sub, unsigned)
GRADUS_SIM_ATOMIC_INTEGERS(atomicExch, exchange)
GRADUS_SIM_ATOMIC(atomicExch, exchange, float)
GRADUS_SIM_ATOMIC(atomicInc, increment, unsigned)
GRADUS_SIM_ATOMIC(atomicDec, decrement, unsigned)
#define GRADUS_SIM_ATOMIC_ALL_INTEGERS(name, op) \
  GRADUS_SIM_ATOMIC_INTEGERS(name, op)           \
  GRADUS_SIM_ATOMIC(name, op, long long)
GRADUS_SIM_ATOMIC_ALL_INTEGERS(atomicMin, min)
GRADUS_SIM_ATOMIC_ALL_INTEGERS(atomicMax, max)
GRADUS_SIM_ATOMIC_ALL_INTEGERS(atomicAnd, bit_and)
GRADUS_SIM_ATOMIC_ALL_INTEGERS(atomicOr, bit_or)
GRADUS_SIM_ATOMIC_ALL_INTEGERS(atomicXor, bit_xor)
#undef GRADUS_SIM_ATOMIC_ALL_INTEGERS
#undef GRADUS_SIM_ATOMIC_INTEGERS
#undef GRADUS_SIM_ATOMIC
#undef GRADUS_SIM_ATOMIC_FUNCTION

#define GRADUS_SIM_COMPARE_AND_SWAP(name, type)                           \
  __forceinline__ type name(type* address, type expected, type value) {   \
    return gradus::cuda::sim::compare_and_swap(address, expected, value); \
  }
#define GRADUS_SIM_COMPARE_AND_SWAPS(type)           \
  GRADUS_SIM_COMPARE_AND_SWAP(atomicCAS, type)       \
  GRADUS_SIM_COMPARE_AND_SWAP(atomicCAS_block, type) \
  GRADUS_SIM_COMPARE_AND_SWAP(atomicCAS_system, type)
GRADUS_SIM_COMPARE_AND_SWAPS(int)
GRADUS_SIM_COMPARE_AND_SWAPS(unsigned)
GRADUS_SIM_COMPARE_AND_SWAPS(unsigned short)
GRADUS_SIM_COMPARE_AND_SWAPS(unsigned long long)
#undef GRADUS_SIM_COMPARE_AND_SWAPS
#undef GRADUS_SIM_COMPARE_AND_SWAP
