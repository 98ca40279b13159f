// The windows along one dimension: checked sizes, and steps of bounded length.
#include "gradus/autograd/ops/window/dims.h"

#include <algorithm>

namespace gradus::autograd {

int64_t padded_size(const char* op, int64_t size, int64_t padding) {
  constexpr int64_t kMost = int64_t{1} << 61;
  const int64_t out = (Checked(size) + Checked(2) * padding).get(op, "the padded input size");
  check(out <= kMost, op, ": the padded input size ", out, " exceeds ", kMost, "; pad less");
  return out;
}

int64_t window_extent(const char* op, int64_t kernel, int64_t dilation) {
  return (Checked(dilation) * (Checked(kernel) - 1) + 1).get(op, "the extent of a window");
}

WindowDim with_short_steps(const char* op, WindowDim dim) {
  const int64_t longest = std::max<int64_t>(padded_size(op, dim.in, dim.padding), 1);
  dim.stride = std::min(dim.stride, longest);
  dim.dilation = std::min(dim.dilation, longest);
  return dim;
}

}  // namespace gradus::autograd
