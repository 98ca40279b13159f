// Reads layouts and views from a message: NAME_sizes and NAME_strides.
#pragma once

#include <algorithm>

#include "core/types.h"
#include "runner/message.h"

inline course::Layout layout(const Message& in, const std::string& name) {
  const auto sizes = in.longs(name + "_sizes"), strides = in.longs(name + "_strides");
  course::Layout out;
  out.rank = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), out.sizes);
  std::copy(strides.begin(), strides.end(), out.strides);
  return out;
}
