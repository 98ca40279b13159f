// The common part of convolutions and pools: numbers for each spatial dimension, and inputs with or
// without a batch.
#pragma once

#include <array>

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

// A number for each of the last `spatial` of three dimensions, of a list that has one for each, or
// one for all; `rest` for the first ones.
// Errors: ValueError that names op and the argument.
std::array<int64_t, kSpatial> spread_list(const char* op, const char* name, IntArrayRef list,
                                          int spatial, int64_t rest);

// Checks that an argument of several numbers is at least `least`.
// Errors: ValueError: `words`, which are libtorch's.
void check_least(const char* op, const char* name, IntArrayRef list, int64_t least,
                 const char* words);

}  // namespace gradus::autograd
