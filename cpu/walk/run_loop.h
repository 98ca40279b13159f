// Runs a loop of loops.h over operands of any layout.
#pragma once

#include "gradus/cpu/walk/find_loop.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cpu {

// What a loop reads or writes: the elements of a tensor, or one number again and again.
struct Stream {
  std::byte* data;
  size_t size, loop_size;  // of an element, in bytes: 1, 2, 4 or 8; and in the type of the loop
  bool contiguous;         // the elements lie one after the other, or are one number
  int64_t step;            // 1, or 0 for a number; between elements where they are contiguous
  const int64_t* strides;  // of the tensor
  Loop convert = nullptr;  // to the type of the loop, or from it; null where it is the tensor's

  // Elements of x that a loop reads as `dtype`, or that it writes so.
  static Stream input(const Tensor& x, ScalarType dtype);
  static Stream output(const Tensor& x, ScalarType dtype);
  // `number` is of `size` bytes, of the type of the loop, and outlives the stream.
  static Stream of_number(const void* number, size_t size);

  std::byte* at(int64_t offset) const { return data + offset * static_cast<int64_t>(size); }
};

// Calls the loop for all elements, on several threads where these are more than `grain`. The
// first stream is the output, of shape `sizes`; to that the others are broadcast. `number` is what
// the loop finds behind its inputs.
template <int N>
void run_loop(const TypedLoop& loop, int64_t grain, IntArrayRef sizes,
              const std::array<Stream, N>& streams, const void* number = nullptr);

}  // namespace gradus::cpu
