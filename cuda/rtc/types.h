// Types by the names that they have in a kernel's text.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "gradus/cuda/rtc/argument.h"
#include "gradus/tensor/base/dtype.h"
#include "gradus/tensor/codegen/prelude.h"

namespace gradus::cuda::rtc {

struct KnownType {
  size_t size;
  bool is_floating, is_signed;
  std::optional<ScalarType> dtype;  // of the tensors that hold it; none for void
};

// By C++'s names and CUDA's (float, int64_t, unsigned int, __half), and NumPy's (float32).
// uint32_t and uint64_t stand for the bits of an int32 or int64 tensor.
std::optional<KnownType> known_type(std::string_view name);

// The number in that type; nothing where an integer does not fit.
std::optional<std::array<char, 8>> converted(const Number& number, const KnownType& type);

using codegen::cuda_name;

}  // namespace gradus::cuda::rtc
