// The text of an elementwise kernel.
#pragma once

#include "gradus/cuda/rtc/operands.h"
#include "gradus/cuda/rtc/source.h"

namespace gradus::cuda::rtc {

// What the text depends on, besides the types.
struct ElementwiseForm {
  bool contiguous;  // all tensors lie in the order of the walk
  int vector;       // elements of a thread, loaded at once
  bool reads;       // outputs are given, so that the operation may read them
  size_t dims;      // of the walk; unless contiguous
  bool wide;        // indices of 64 bits
};

// A kernel of this name for the types of the call.
std::string elementwise_text(const Call& call, const ElementwiseForm& form, const std::string& name,
                             const Source& operation, const Source& preamble);

}  // namespace gradus::cuda::rtc
