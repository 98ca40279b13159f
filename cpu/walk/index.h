// The common part of gather and scatter: the walk over all but the indexed dimension.
#pragma once

#include "gradus/tensor/base/index_rule.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cpu {

// Errors: IndexError where the rule does not allow the number.
inline int64_t checked_place(const IndexRule& rule, int64_t number) {
  if (!rule.allows(number)) [[unlikely]]
    fail_index(rule, number);
  return rule.place(number);
}

// The strides of x where dim is not walked but indexed.
inline Dims strides_without(const Tensor& x, int64_t dim) {
  Dims out = x.impl().strides;
  out[dim] = 0;
  return out;
}

}  // namespace gradus::cpu
