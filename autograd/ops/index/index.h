// Gathering and scattering by a list of index tensors (raw::index_list), recorded.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {

Tensor gathered(const char* op, const char* node_name, const Tensor& self, const Tensors& list);
// self with values, which broadcast, set or added at the places of the list.
Tensor with_put(const char* op, const char* node_name, const Tensor& self, const Tensors& list,
                const Tensor& values, bool accumulate);

}  // namespace gradus
