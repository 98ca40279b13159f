// Views in messages: a view of numbered elements goes to the student's function, and comes back.
#pragma once

#include <algorithm>

#include "core/tensors.h"
#include "runner/message.h"

// Memory whose elements are their own numbers, as many as the judge asks for, and a view of it.
inline course::View view(const Message& in, std::vector<float>& memory) {
  memory.resize(static_cast<size_t>(in.number("memory")));
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  return {memory.data(), in.number("offset"), in.longs("sizes"), in.longs("strides")};
}

// Sends sizes and strides; "offset": of the first element in x's memory; "memory": what the view can reach; "same_memory": 0 where
// that is a copy; "same_data": whether its pointer is that of x.
inline void send(const course::View& view, const std::vector<float>& memory, Message& out) {
  const auto bytes = reinterpret_cast<intptr_t>(view.data) - reinterpret_cast<intptr_t>(memory.data());
  const bool same = bytes >= 0 && bytes <= static_cast<long>(memory.size() * sizeof(float));
  const float* const data = same ? memory.data() : view.data;
  const long offset = view.offset + (same ? bytes / static_cast<long>(sizeof(float)) : 0);
  long size = offset + 1;
  for (size_t d = 0; d < std::min(view.sizes.size(), view.strides.size()); ++d)
    size += std::max(0L, view.sizes[d] - 1) * view.strides[d];
  size = std::clamp(size, 0L, same ? static_cast<long>(memory.size()) : 1L << 16);
  out.longs("sizes", view.sizes);
  out.longs("strides", view.strides);
  out.number("offset", offset);
  out.number("same_memory", same);
  out.number("same_data", view.data == memory.data());
  out.floats("memory", {data, data + size});
}
