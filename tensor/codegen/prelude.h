// What the texts of all kernels begin with: names of types, indices, walks, vectors.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gradus/tensor/base/dtype.h"

namespace gradus::codegen {

// The name of an element's type in the text of a kernel: "__half", "int64_t".
std::string_view cuda_name(ScalarType dtype);

// The headers of the types for which uses(dtype); Index, of 64 bits where wide; and in namespace
// gradus Walk, which finds the elements of tensors, and Vector, load and store.
std::string prelude(const std::function<bool(ScalarType)>& uses, bool wide);

}  // namespace gradus::codegen
