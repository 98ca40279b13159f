// The bits that random numbers are made of, many at a time.
#pragma once

#include <cstdint>

namespace gradus::cpu {

// Elements whose bits are drawn at once.
inline constexpr int64_t kPiece = 256;

// bits[i] = philox::words(seed, counter, i) for i < kPiece.
void draw_bits(uint64_t seed, uint64_t counter, uint64_t* bits);

}  // namespace gradus::cpu
