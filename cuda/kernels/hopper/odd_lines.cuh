// Stores of lines of 16 bits that begin at any place, as those of a matrix with an odd number of
// columns do: no access of 16 bytes reaches all of them alike.
#pragma once

#include <cstdint>

namespace gradus::cuda {

// Stores 64 neighbours at `to`, of which lane i of a warp has 2 i and 2 i + 1, or the first `left`
// of them. Pairs that begin at an odd place get a half from the next lane. REQUIRES: all lanes
// call.
__device__ inline void store_pairs(uint16_t* to, int left, uint32_t pair, int lane) {
  const uint32_t next = __shfl_down_sync(~0u, pair, 1);
  const bool odd = reinterpret_cast<uintptr_t>(to) % 4 != 0;
  const int first = 2 * lane + odd;
  const uint32_t own = odd ? pair >> 16 | next << 16 : pair;
  if (first + 1 < left && first < 63)
    *reinterpret_cast<uint32_t*>(to + first) = own;
  else if (first < left)
    to[first] = static_cast<uint16_t>(own);
  if (odd && lane == 0 && left > 0) *to = static_cast<uint16_t>(pair);
}

}  // namespace gradus::cuda
