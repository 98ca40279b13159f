// The prelude of all kernel texts: names of types, indices, walks, vectors.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gradus/tensor/base/dtype.h"

namespace gradus::codegen {

// The name of an element's type in the text of a kernel: "__half", "int64_t".
std::string_view cuda_name(ScalarType dtype);

// Includes the headers of the types for which uses(dtype) is true. Index has 64 bits if `wide`.
// Namespace gradus holds Walk, which finds the elements of tensors, Vector, load and store.
std::string prelude(const std::function<bool(ScalarType)>& uses, bool wide);

}  // namespace gradus::codegen
