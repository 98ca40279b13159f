// Strided iteration for the loops of loops.h: runs one over operands of any layout.
#pragma once

#include "gradus/cpu/walk/find_loop.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cpu {

// An operand of a loop: the elements of a tensor, or one number again and again.
struct LoopOperand {
  std::byte* data;
  size_t size, loop_size;  // the bytes of an element, 1, 2, 4 or 8: here, and in the loop's type
  bool contiguous;         // the elements lie one after the other, or are one number
  int64_t step;            // between elements that are contiguous: 1, or 0 for a number
  const int64_t* strides;  // of the tensor
  // Converts to the loop's type (or from it, for an output). Null where the tensor has that type.
  Loop convert = nullptr;

  // The elements of x, which the loop reads or writes as `dtype`.
  static LoopOperand input(const Tensor& x, ScalarType dtype) {
    return {static_cast<std::byte*>(x.data_ptr()),
            x.itemsize(),
            element_size(dtype),
            x.is_contiguous(),
            1,
            x.strides().data(),
            x.scalar_type() == dtype ? nullptr : convert_loop(x.scalar_type(), dtype)};
  }
  static LoopOperand output(const Tensor& x, ScalarType dtype) {
    LoopOperand out = input(x, x.scalar_type());
    if (x.scalar_type() != dtype) {
      out.loop_size = element_size(dtype);
      out.convert = convert_loop(dtype, x.scalar_type());
    }
    return out;
  }
  // A number of the loop's type, of `size` bytes. REQUIRES: it outlives the operand.
  static LoopOperand of_number(const void* number, size_t size);

  std::byte* at(int64_t offset) const { return data + offset * static_cast<int64_t>(size); }
};

// Calls the loop for all elements, on several threads if there are more than `grain`. The first
// operand is the output, of shape `sizes`; the others are broadcast to it. The loop finds `number`
// behind its inputs.
template <int N>
void run_loop(const TypedLoop& loop, int64_t grain, IntArrayRef sizes,
              const std::array<LoopOperand, N>& operands, const void* number = nullptr);

}  // namespace gradus::cpu
