// The common part of Module::load_state_dict and checkpoints: whether values fit, and putting them
// in place.
#pragma once

#include <string>

#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/tensor/tensor.h"

namespace gradus::nn {

using StateDict = OrderedDict<std::string, Tensor>;

// Why `values` cannot go into the tensors of `state`, a line for each name, each line after a line
// break; empty where they can. strict: all names are on both sides. convert: dtypes may differ.
std::string misfits(const StateDict& state, const StateDict& values, bool strict, bool convert);

// Copies to the tensors of `state` the values of the same names. REQUIRES: they fit.
void assign(const StateDict& state, const StateDict& values);

}  // namespace gradus::nn
