// Tensors as cuTensorMapEncodeTiled describes them to the tensor memory accelerator.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace gradus::cuda::sim {

// The content of a CUtensorMap. The first dimension is contiguous.
struct TensorMap {
  static constexpr uint32_t kMark = 0x54454e53;
  uint32_t mark;  // of a map that was encoded
  uint8_t bytes, dims, swizzle;
  unsigned char* data;
  int64_t strides[4];  // in bytes
  uint32_t sizes[5];
  uint16_t box[5];

  int lines() const {
    int out = 1;
    for (int d = 1; d < dims; ++d) out *= box[d];
    return out;
  }
  int line_bytes() const { return box[0] * bytes; }
};
static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));

// The address of a 16-byte chunk once its bits 4 to 6 are swizzled with bits 7 to 9.
inline uintptr_t swizzled(uintptr_t address, unsigned swizzle) {
  return address ^ ((address >> 7 & ((1u << swizzle) - 1)) << 4);
}

// Calls f(chunk, from, first, last) for each 16-byte chunk of the box at these coordinates: where
// it lies in shared memory, where its first byte would lie in the tensor, and which of its bytes
// do.
template <class F>
void for_chunks(const TensorMap& map, const int* at, uintptr_t shared, const F& f) {
  const int lines = map.lines(), chunks = map.line_bytes() / 16, each = 16 / map.bytes;
  for (int line = 0; line < lines; ++line) {
    bool inside = true;
    int64_t offset = 0;
    for (int d = 1, rest = line; d < map.dims; rest /= map.box[d++]) {
      const int64_t place = int64_t{at[d]} + rest % map.box[d];
      inside &= place >= 0 && place < map.sizes[d];
      offset += place * map.strides[d - 1];
    }
    for (int c = 0; c < chunks; ++c) {
      const int64_t x = int64_t{at[0]} + c * each, left = int64_t{map.sizes[0]} - x;
      const int64_t first = x < 0 ? -x : 0, last = left < each ? left : each;
      const bool any = inside && first < last;
      f(swizzled(shared + static_cast<uintptr_t>(line * chunks + c) * 16, map.swizzle),
        map.data + offset + x * map.bytes, any ? static_cast<unsigned>(first) * map.bytes : 0,
        any ? static_cast<unsigned>(last) * map.bytes : 0);
    }
  }
}

}  // namespace gradus::cuda::sim
