// CUDA's integer functions.
#pragma once

#include <bit>
#include <cstdint>

#include <vector_types.h>

namespace gradus::cuda::sim {
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
}  // namespace gradus::cuda::sim

__forceinline__ constexpr int __popc(unsigned x) { return std::popcount(x); }
__forceinline__ constexpr int __popcll(unsigned long long x) { return std::popcount(x); }

// How many zeros lead; all 32 or 64 for 0.
__forceinline__ constexpr int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
__forceinline__ constexpr int __clzll(long long x) {
  return std::countl_zero(static_cast<unsigned long long>(x));
}

// The place of the lowest bit that is set, from 1; 0 for 0.
__forceinline__ constexpr int __ffs(int x) { return __builtin_ffs(x); }
__forceinline__ constexpr int __ffsll(long long x) { return __builtin_ffsll(x); }

// The bits in reverse order: swaps neighbours, pairs and nibbles, then the bytes.
__forceinline__ constexpr unsigned long long __brevll(unsigned long long x) {
  x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
  return __builtin_bswap64(x);
}
__forceinline__ constexpr unsigned __brev(unsigned x) {
  return static_cast<unsigned>(__brevll(x) >> 32);
}

// The low 32 bits of the product of the low 24 bits.
__forceinline__ constexpr unsigned __umul24(unsigned x, unsigned y) {
  return (x & 0xffffff) * (y & 0xffffff);
}
__forceinline__ constexpr int __mul24(int x, int y) {
  const auto low = [](int n) { return static_cast<int>(static_cast<unsigned>(n) << 8) >> 8; };
  return static_cast<int>(int64_t{low(x)} * low(y));
}

// The high half of the product.
__forceinline__ constexpr int __mulhi(int x, int y) {
  return static_cast<int>(int64_t{x} * y >> 32);
}
__forceinline__ constexpr unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(uint64_t{x} * y >> 32);
}
__forceinline__ constexpr long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(gradus::cuda::sim::int128{x} * y >> 64);
}
__forceinline__ constexpr unsigned long long __umul64hi(unsigned long long x,
                                                        unsigned long long y) {
  return static_cast<unsigned long long>(gradus::cuda::sim::uint128{x} * y >> 64);
}

// |x - y| + z.
__forceinline__ constexpr unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return (x > y ? x - y : y - x) + z;
}
__forceinline__ constexpr unsigned __sad(int x, int y, unsigned z) {
  const auto a = static_cast<unsigned>(x), b = static_cast<unsigned>(y);
  return (x > y ? a - b : b - a) + z;
}

// The average, rounded down, and rounded up in the variants with r.
__forceinline__ constexpr int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
__forceinline__ constexpr int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
__forceinline__ constexpr unsigned __uhadd(unsigned x, unsigned y) {
  return (x & y) + ((x ^ y) >> 1);
}
__forceinline__ constexpr unsigned __urhadd(unsigned x, unsigned y) {
  return (x | y) - ((x ^ y) >> 1);
}

// Byte i of the result is the byte of y:x that the low three bits of nibble i of `selector` choose.
__forceinline__ constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}

// The high half of high:low << shift, or the low half of high:low >> shift. `shift` counts modulo
// 32, or in the variants with c up to 32.
__forceinline__ constexpr unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) << (shift < 32 ? shift : 32) >> 32);
}
__forceinline__ constexpr unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift < 32 ? shift : 32));
}
__forceinline__ constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return __funnelshift_lc(low, high, shift & 31);
}
__forceinline__ constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return __funnelshift_rc(low, high, shift & 31);
}

// z and the sum of products of four bytes each.
__forceinline__ constexpr int __dp4a(char4 x, char4 y, int z) {
  return z + x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}
__forceinline__ constexpr unsigned __dp4a(uchar4 x, uchar4 y, unsigned z) {
  return z + static_cast<unsigned>(x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w);
}
__forceinline__ constexpr int __dp4a(int x, int y, int z) {
  return __dp4a(std::bit_cast<char4>(x), std::bit_cast<char4>(y), z);
}
__forceinline__ constexpr unsigned __dp4a(unsigned x, unsigned y, unsigned z) {
  return __dp4a(std::bit_cast<uchar4>(x), std::bit_cast<uchar4>(y), z);
}
