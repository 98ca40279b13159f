// The parts of the module, each bound by a source of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "gradus/tensor/tensor.h"

namespace gradus::python {

namespace nb = nanobind;

nb::handle bind_tensor(nb::module_& m);
// REQUIRES: the rows are bound: properties take the place of methods of the same name.
void bind_tensor_members(nb::module_& m, nb::handle tensor);
void bind_data(nb::module_& m, nb::handle tensor);
void bind_sampling(nb::handle tensor);
// REQUIRES: the rows are bound.
void bind_tensor_forms(nb::handle tensor);
void bind_modes(nb::module_& m);
void bind_autograd(nb::module_& m, nb::handle tensor);
void bind_saved_tensors(nb::module_& m);
void bind_exchange(nb::module_& m, nb::handle tensor);
void bind_cuda(nb::module_& m);
void bind_kernels(nb::module_& m, nb::module_& cuda);
void bind_sim(nb::module_& m);
void bind_distributed(nb::module_& m, nb::module_& nn);
void bind_watch(nb::module_& watch, nb::module_& metrics, nb::module_& profiler);
void bind_guard(nb::module_& watch);
void bind_files(nb::module_& m);
void bind_modules(nb::module_& m);
void bind_optimizers(nb::module_& m);
void bind_training(nb::module_& nn, nb::module_& amp);

// The tensor of nested lists, numbers or an array of another library; null for anything else.
std::optional<Tensor> tensor_from(nb::handle data);

// What NumPy's array interface says of a tensor.
nb::dict array_interface(const Tensor& x);
// A tensor over the memory that an array interface describes; it keeps `object`.
// Errors: TypeError for a dtype that no tensor has, ValueError for strides.
Tensor from_interface(nb::handle object, const nb::dict& interface, Device device);
// A tensor over the memory of an object with __cuda_array_interface__.
Tensor from_cuda_interface(nb::handle object);

}  // namespace gradus::python
