// Philox4x32-10, the counter-based random generator of Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3. Element i of a draw depends on (seed,
// offset, i) alone, so that CPU and GPU give the same stream in any order.
#pragma once

#include <cmath>
#include <cstdint>

#include "gradus/tensor/rounding.h"

namespace gradus::philox {

struct Block {
  uint32_t word[4];
};

inline constexpr int kRounds = 10;
inline constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
inline constexpr uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;  // added to the key

GRADUS_HD inline Block block(uint64_t seed, uint64_t counter) {
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32);
  uint32_t c2 = 0, c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t p0 = uint64_t{kMultiplier0} * c0, p1 = uint64_t{kMultiplier1} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1), c3 = static_cast<uint32_t>(p0);
    c0 = n0, c2 = n2;
    k0 += kWeyl0, k1 += kWeyl1;
  }
  return {{c0, c1, c2, c3}};
}

// Each element takes two words, so two elements share a block.
inline constexpr int kElementsPerBlock = 2;
GRADUS_HD inline uint64_t words(const Block& b, int lane) {
  return (static_cast<uint64_t>(b.word[2 * lane]) << 32) | b.word[2 * lane + 1];
}
GRADUS_HD inline uint64_t words(uint64_t seed, uint64_t offset, uint64_t i) {
  return words(block(seed, offset + i / kElementsPerBlock),
               static_cast<int>(i % kElementsPerBlock));
}

// Uniform in [0, 1): 24 bits for float, 53 for double, so that 1 never comes out.
GRADUS_HD inline float unit(uint64_t bits, float) {
  // Processors convert signed numbers of 32 bits at once.
  return static_cast<float>(static_cast<int32_t>(bits >> 40)) * 0x1p-24f;
}
GRADUS_HD inline double unit(uint64_t bits, double) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// In [a, b), with the same bits on every device.
template <class T>
GRADUS_HD T uniform(uint64_t bits, T a, T b) {
  const T x = multiply_then_add(b - a, unit(bits, T{}), a);
  return x < b ? x : a;  // rounding may have reached b
}

// Box and Muller, "A note on the generation of random normal deviates" (1958), the cosine half:
// the number whose logarithm gives the distance from 0, in (0, 1], and the angle.
GRADUS_HD inline double radius_place(uint64_t bits) {
  return (static_cast<double>(bits >> 32) + 1) * 0x1p-32;
}
GRADUS_HD inline double angle(uint64_t bits) {
  return 6.283185307179586 * (static_cast<double>(bits & 0xffffffffu) * 0x1p-32);
}
template <class T>
GRADUS_HD T normal(uint64_t bits, T mean, T deviation) {
  return static_cast<T>(static_cast<double>(mean) +
                        static_cast<double>(deviation) *
                            std::sqrt(-2 * std::log(radius_place(bits))) * std::cos(angle(bits)));
}

// In [low, high), which may be wider than an int64 counts.
GRADUS_HD inline int64_t randint(uint64_t bits, int64_t low, int64_t high) {
  const uint64_t first = static_cast<uint64_t>(low);
  return static_cast<int64_t>(first + bits % (static_cast<uint64_t>(high) - first));
}

}  // namespace gradus::philox
