// The operations that the lanes of a warp do together.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <host_defines.h>

namespace gradus::cuda::sim {
enum class WarpOp : uint8_t {
  sync,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  all,
  any,
  ballot,
  match_any,
  match_all,
  add,
  min,
  max,
  smin,
  smax,
  bit_and,
  bit_or,
  bit_xor,
  multiply_add,
  multiply_matrices,
  matrix  // all lanes name one matrix
};
// The result of this lane, once every lane of `mask` has called with the same mask and operation.
uint64_t warp_call(WarpOp op, unsigned mask, uint64_t value, unsigned argument = 0,
                   unsigned width = 32);

template <class T>
uint64_t bits_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                "a warp exchanges up to 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T value_of(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
__forceinline__ T shuffle(WarpOp op, unsigned mask, T value, unsigned argument, int width) {
  return value_of<T>(warp_call(op, mask, bits_of(value), argument, static_cast<unsigned>(width)));
}
}  // namespace gradus::cuda::sim

// width: a power of two; the warp works as independent parts of that many lanes.
template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  using namespace gradus::cuda::sim;
  return shuffle(WarpOp::shuffle, mask, value, static_cast<unsigned>(lane), width);
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  using namespace gradus::cuda::sim;
  return shuffle(WarpOp::shuffle_up, mask, value, delta, width);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  using namespace gradus::cuda::sim;
  return shuffle(WarpOp::shuffle_down, mask, value, delta, width);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  using namespace gradus::cuda::sim;
  return shuffle(WarpOp::shuffle_xor, mask, value, static_cast<unsigned>(lanes), width);
}

__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) {
  using namespace gradus::cuda::sim;
  warp_call(WarpOp::sync, mask, 0);
}
__forceinline__ int __all_sync(unsigned mask, int predicate) {
  using namespace gradus::cuda::sim;
  return static_cast<int>(warp_call(WarpOp::all, mask, predicate != 0));
}
__forceinline__ int __any_sync(unsigned mask, int predicate) {
  using namespace gradus::cuda::sim;
  return static_cast<int>(warp_call(WarpOp::any, mask, predicate != 0));
}
__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate) {
  using namespace gradus::cuda::sim;
  return static_cast<unsigned>(warp_call(WarpOp::ballot, mask, predicate != 0));
}
template <class T>
__forceinline__ unsigned __match_any_sync(unsigned mask, T value) {
  using namespace gradus::cuda::sim;
  return static_cast<unsigned>(warp_call(WarpOp::match_any, mask, bits_of(value)));
}
template <class T>
__forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* all) {
  using namespace gradus::cuda::sim;
  const auto lanes = static_cast<unsigned>(warp_call(WarpOp::match_all, mask, bits_of(value)));
  *all = lanes != 0;
  return lanes;
}
__forceinline__ unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  using namespace gradus::cuda::sim;
  return static_cast<unsigned>(warp_call(WarpOp::add, mask, value));
}
__forceinline__ int __reduce_add_sync(unsigned mask, int value) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value)));
}
__forceinline__ unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  using namespace gradus::cuda::sim;
  return static_cast<unsigned>(warp_call(WarpOp::min, mask, value));
}
__forceinline__ int __reduce_min_sync(unsigned mask, int value) {
  using namespace gradus::cuda::sim;
  return static_cast<int>(warp_call(WarpOp::smin, mask, static_cast<unsigned>(value)));
}
__forceinline__ unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  using namespace gradus::cuda::sim;
  return static_cast<unsigned>(warp_call(WarpOp::max, mask, value));
}
__forceinline__ int __reduce_max_sync(unsigned mask, int value) {
  using namespace gradus::cuda::sim;
  return static_cast<int>(warp_call(WarpOp::smax, mask, static_cast<unsigned>(value)));
}
__forceinline__ unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  using namespace gradus::cuda::sim;
  return static_cast<unsigned>(warp_call(WarpOp::bit_and, mask, value));
}
__forceinline__ unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  using namespace gradus::cuda::sim;
  return static_cast<unsigned>(warp_call(WarpOp::bit_or, mask, value));
}
__forceinline__ unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  using namespace gradus::cuda::sim;
  return static_cast<unsigned>(warp_call(WarpOp::bit_xor, mask, value));
}

// The lanes of this warp that make the same call together.
unsigned __activemask();
