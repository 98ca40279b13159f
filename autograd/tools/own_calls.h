// The common part of vectorize and guvectorize: their arguments, their loop on the CPU, their
// gradients.
#pragma once

#include <functional>
#include <vector>

#include "gradus/cuda/rtc/argument.h"

namespace gradus::detail {

// Errors: TypeError where the function takes another number of arguments.
void check_count(const char* name, size_t takes, size_t given);

// Argument i of the function `name`, as a tensor of this dtype; a number becomes one on the device.
// Errors: TypeError for a tensor of another dtype, and for a number that the dtype does not take.
Tensor tensor_of(const char* name, const cuda::Argument& argument, ScalarType dtype, size_t i,
                 Device device = kCPU);

// The device of the tensors; the CPU without any. Errors: ValueError where they are on several
// devices.
Device common_device(const char* name, ArrayRef<cuda::Argument> arguments);

// Walks rows in row-major order on several threads. row(length, offsets, steps) gets the offsets
// and steps of each operand, in elements. part: the elements that are worth a thread.
void for_rows(const Dims& shape, const std::vector<Dims>& strides, int64_t part,
              const std::function<void(int64_t, const int64_t*, const int64_t*)>& row);

// Whether a call is recorded. Errors: Error where it would be, and there is no gradient.
bool records_own(const char* name, const Tensors& inputs, bool has_gradient);

// Records a call: gradient(i, arguments) is that of input i, and the arguments are the inputs and
// then the gradients of the outputs. name outlives the graph.
void record_own(const char* name, const Tensors& inputs, const Tensors& outputs,
                std::function<Tensor(size_t, ArrayRef<cuda::Argument>)> gradient);

}  // namespace gradus::detail
