// Computes a kernel one expression after the other, by the functions of a backend.
#pragma once

#include "gradus/tensor/fused/computation.h"

namespace gradus::fused {

// A part of the domain: where it begins, and its sizes.
struct Box {
  Dims first, sizes;
};

// Computes the part of the outputs that lies in the box. What Backend::fused says holds.
// REQUIRES: the box has the sizes of the domain from kernel.columns on.
void evaluate(Backend& backend, const Kernel& kernel, const Box& box, ArrayRef<Tensor> inputs,
              ArrayRef<Tensor> outputs);

}  // namespace gradus::fused
