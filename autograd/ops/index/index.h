// Gathering and scattering by a list of index tensors (raw::index_list), recorded.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {

Tensor gathered(const char* op, const char* node_name, const Tensor& self, const Tensors& list);
// A copy of self in which `values`, which broadcast, are set at the places of the list, or added
// where `accumulate`.
Tensor with_put(const char* op, const char* node_name, const Tensor& self, const Tensors& list,
                const Tensor& values, bool accumulate);

}  // namespace gradus
