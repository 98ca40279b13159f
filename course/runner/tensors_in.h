// tensor_in: a course::Tensor of a message, for the runners of module 2.
#pragma once

#include <string>

#include "core/autodiff.h"
#include "runner/message.h"

// Its elements are the message's `name`, its sizes `name` + " sizes".
inline course::Tensor tensor_in(const Message& in, const std::string& name) {
  course::Tensor out;
  out.sizes = in.longs(name + " sizes");
  out.storage = std::make_shared<course::Storage>();
  out.storage->values = in.floats(name);
  return out;
}

// The elements of a tensor.
inline std::vector<float> values_of(const course::Tensor& x) {
  if (x.empty()) return {};
  const auto first = x.storage->values.begin() + x.offset;
  return {first, first + x.count()};
}
