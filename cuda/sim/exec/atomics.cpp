// Implements the atomic functions of kernels.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <sim/atomics.h>

#include <atomic>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

namespace {
template <class T>
T apply(AtomicOp op, T old, T value) {
  switch (op) {
    case AtomicOp::add:
      return static_cast<T>(old + value);
    case AtomicOp::sub:
      return static_cast<T>(old - value);
    case AtomicOp::min:
      return value < old ? value : old;
    case AtomicOp::max:
      return value > old ? value : old;
    case AtomicOp::exchange:
      return value;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case AtomicOp::increment:
        return old >= value ? T(0) : static_cast<T>(old + 1);
      case AtomicOp::decrement:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
      case AtomicOp::bit_and:
        return old & value;
      case AtomicOp::bit_or:
        return old | value;
      case AtomicOp::bit_xor:
        return old ^ value;
      default:
        break;
    }
  }
  return old;
}

// Runs an atomic operation, with the checks before it and the events after it.
template <class T>
class Guard {
 public:
  Guard(T* address, uintptr_t pc) : address_(reinterpret_cast<uintptr_t>(address)), pc_(pc) {
    check_atomic(address_, sizeof(T), pc);
    here->publish(address_);
  }
  ~Guard() { here->meet(address_, false, pc_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  uintptr_t address_, pc_;
};
}  // namespace

namespace {
template <class T>
T change(AtomicOp op, T* address, T value) {
  const std::atomic_ref<T> target(*address);
  T old = target.load();
  while (!target.compare_exchange_weak(old, apply(op, old, value))) {
  }
  return old;
}
// Adds each number by itself: CUDA promises no more.
float2 change(AtomicOp op, float2* address, float2 value) {
  return {change(op, &address->x, value.x), change(op, &address->y, value.y)};
}
float4 change(AtomicOp op, float4* address, float4 value) {
  return {change(op, &address->x, value.x), change(op, &address->y, value.y),
          change(op, &address->z, value.z), change(op, &address->w, value.w)};
}
}  // namespace

template <class T>
T atomic(AtomicOp op, T* address, T value) {
  const Guard guard(address, GRADUS_SIM_CALLER);
  return change(op, address, value);
}

template <class T>
T compare_and_swap(T* address, T expected, T value) {
  const Guard guard(address, GRADUS_SIM_CALLER);
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, value);
  return expected;
}

template int atomic(AtomicOp, int*, int);
template unsigned atomic(AtomicOp, unsigned*, unsigned);
template long long atomic(AtomicOp, long long*, long long);
template unsigned long long atomic(AtomicOp, unsigned long long*, unsigned long long);
template float atomic(AtomicOp, float*, float);
template double atomic(AtomicOp, double*, double);
template float2 atomic(AtomicOp, float2*, float2);
template float4 atomic(AtomicOp, float4*, float4);
template __half atomic(AtomicOp, __half*, __half);
template __half2 atomic(AtomicOp, __half2*, __half2);
template __nv_bfloat16 atomic(AtomicOp, __nv_bfloat16*, __nv_bfloat16);
template __nv_bfloat162 atomic(AtomicOp, __nv_bfloat162*, __nv_bfloat162);
template int compare_and_swap(int*, int, int);
template unsigned compare_and_swap(unsigned*, unsigned, unsigned);
template unsigned short compare_and_swap(unsigned short*, unsigned short, unsigned short);
template unsigned long long compare_and_swap(unsigned long long*, unsigned long long,
                                             unsigned long long);

}  // namespace gradus::cuda::sim
