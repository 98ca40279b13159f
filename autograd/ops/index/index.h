// Gathering and scattering by a list of index tensors (raw::index_list), recorded.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {

Tensor gathered(const char* op, const char* node_name, const Tensor& self, const Tensors& list);
// A copy of self with `values`, which broadcast, set at the places of the list, or added where
// `accumulate`.
Tensor with_put(const char* op, const char* node_name, const Tensor& self, const Tensors& list,
                const Tensor& values, bool accumulate);

// A number as one of self's dtype, and on its device. A number on the CPU that needs no gradient
// stays there: where, masked_fill and index_put pass it to a kernel as an argument.
Tensor number_of(const Tensor& self, const Tensor& number);
// The number on the CPU.
Tensor number_of(const Tensor& self, const Scalar& number);

}  // namespace gradus
