// Philox4x32-10, a counter-based random generator: Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3" (SC 2011), section 3.3. Element i of a draw depends on (seed, offset, i) alone, so
// that CPU and GPU give the same stream in any order.
#pragma once

#include <cstdint>

#include "gradus/tensor/base/host_device.h"

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

// The random bits of an element. A block holds those of kPerBlock elements. Two words of its own:
struct Words {
  static constexpr int kPerBlock = 2;
  uint32_t high, low;

  GRADUS_HD static Words of(const Block& b, int lane) {
    return {b.word[2 * lane], b.word[2 * lane + 1]};
  }
  GRADUS_HD uint64_t joined() const { return uint64_t{high} << 32 | low; }
};

// One word:
struct Word {
  static constexpr int kPerBlock = 4;
  uint32_t bits;

  GRADUS_HD static Word of(const Block& b, int lane) { return {b.word[lane]}; }
};

// Two words that two neighbours share; `second` says which of them this is.
struct SharedWords {
  static constexpr int kPerBlock = 4;
  uint32_t high, low;
  bool second;

  GRADUS_HD static SharedWords of(const Block& b, int lane) {
    return {b.word[lane & ~1], b.word[lane | 1], (lane & 1) != 0};
  }
};

template <class Bits>
GRADUS_HD Bits bits_of(uint64_t seed, uint64_t offset, uint64_t i) {
  return Bits::of(block(seed, offset + i / Bits::kPerBlock), static_cast<int>(i % Bits::kPerBlock));
}

// A draw reserves a block for so many elements, which is enough for those of two words.
inline constexpr int kElementsPerBlock = Words::kPerBlock;
GRADUS_HD inline Words words(uint64_t seed, uint64_t offset, uint64_t i) {
  return bits_of<Words>(seed, offset, i);
}

// Uniform in [0, 1): the first 24 bits of a word as a float, or 53 bits as a double. So 1 never
// comes out. Processors convert signed numbers of 32 bits at once.
GRADUS_HD inline float unit(Word w) {
  return static_cast<float>(static_cast<int32_t>(w.bits >> 8)) * 0x1p-24f;
}
GRADUS_HD inline double unit(Words w) {
  return static_cast<double>(static_cast<int32_t>(w.high >> 1)) * 0x1p-31 +
         static_cast<double>(static_cast<int32_t>((w.high & 1) << 21 | w.low >> 11)) * 0x1p-53;
}

}  // namespace gradus::philox
