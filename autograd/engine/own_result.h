// Results of recorded functions that are no views.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {

// A result that shares memory with no input is a tensor of its own, whatever made it: it may change
// in place. Each function that records calls this.
template <class Inputs>
void own_unless_shared(const Tensor& result, const Inputs& inputs) {
  TensorImpl& impl = result.impl();
  if (!impl.view_of) return;
  for (const Tensor& input : inputs)
    if (input.defined() && input.impl().storage == impl.storage) return;
  impl.view_of = nullptr;
  impl.creation_meta = autograd::CreationMeta::DEFAULT;
}

}  // namespace gradus
