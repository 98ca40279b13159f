// The order in which parameters are stepped whose gradients other devices still add to.
#pragma once

#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::optim {

// The places in `gradients`, in turns. Gradients that are still on their way come last, in the
// order in which a backward pass goes through the layers; the others are stepped meanwhile. A turn
// has at least half of the bytes that are left, so that there are few: each costs a launch.
std::vector<std::vector<size_t>> in_turns(const std::vector<const Tensor*>& gradients);

}  // namespace gradus::optim
