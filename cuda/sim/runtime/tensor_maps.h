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
  bool pixels;  // of a map for pixels, whose box has box[0] channels of box[1] pixels
  unsigned char* data;
  int64_t strides[4];  // in bytes
  uint32_t sizes[5];
  uint16_t box[5];
  int16_t lower[3],
      upper[3];      // of pixels: how far those in the middle may be outside, by dimension
  uint8_t steps[3];  // of pixels
  bool rounds;       // floats to TF32, to the nearest, as they come to shared memory
  char type;         // of what may be added: b, h or f as for products; 0: of other elements

  int lines() const {
    int out = box[1];
    for (int d = 2; d < dims && !pixels; ++d) out *= box[d];
    return dims > 1 ? out : 1;
  }
  int line_bytes() const { return box[0] * bytes; }
};
static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));

// The lines of a box, one after the other: where each begins in the tensor, but for its first
// coordinate.
class Lines {
 public:
  // `shift`: how far pixels are moved in each dimension but the first.
  Lines(const TensorMap& map, const int* at, const int* shift) : map_(map), at_(at), shift_(shift) {
    for (int d = 1; d < map.dims; ++d) now_[d] = at[d];
  }
  bool is_inside() const {
    for (int d = 1; d < map_.dims; ++d)
      if (place(d) < 0 || place(d) >= map_.sizes[d]) return false;
    return true;
  }
  int64_t offset() const {
    int64_t out = 0;
    for (int d = 1; d < map_.dims; ++d) out += place(d) * map_.strides[d - 1];
    return out;
  }
  void next() {
    for (int d = 1; d < map_.dims; ++d) {
      const bool last = d + 1 == map_.dims;
      if (!map_.pixels) {
        if (++now_[d] < int64_t{at_[d]} + map_.box[d] || last) return;
        now_[d] = at_[d];
      } else {
        now_[d] += last ? 1 : map_.steps[d - 1];
        if (last || now_[d] < int64_t{map_.sizes[d]} + map_.upper[d - 1]) return;
        now_[d] = map_.lower[d - 1];
      }
    }
  }

 private:
  int64_t place(int d) const { return now_[d] + (shift_ && d + 1 < map_.dims ? shift_[d - 1] : 0); }

  const TensorMap& map_;
  const int *at_, *shift_;
  int64_t now_[5] = {};
};

// The address of a 16-byte chunk once its bits 4 to 6 are swizzled with bits 7 to 9.
inline uintptr_t swizzled(uintptr_t address, unsigned swizzle) {
  return address ^ ((address >> 7 & ((1u << swizzle) - 1)) << 4);
}

// Calls f(chunk, from, first, last) for each 16-byte chunk of the box at these coordinates: where
// it lies in shared memory, where its first byte would lie in the tensor, and which of its bytes
// do.
template <class F>
void for_chunks(const TensorMap& map, const int* at, const int* shift, uintptr_t shared,
                const F& f) {
  const int lines = map.lines(), chunks = map.line_bytes() / 16, each = 16 / map.bytes;
  Lines place(map, at, shift);
  for (int line = 0; line < lines; ++line, place.next()) {
    const bool inside = place.is_inside();
    const int64_t offset = place.offset();
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
