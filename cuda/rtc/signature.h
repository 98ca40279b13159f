// The kernels of a source text, and their parameters, as far as a look at its words tells.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/cuda/rtc/types.h"

namespace gradus::cuda::rtc {

struct Parameter {
  std::string text;  // as it is written: "const float* x"
  std::string name;  // "" where it has none
  std::string type;  // "float": without const, pointer and the like; "long long" for all its forms
  std::optional<KnownType> known;  // what that type is
  bool is_pointer, is_const;       // what a pointer points to is const
};

struct Signature {
  std::string name;  // with its namespaces: "ns::f"
  bool is_template;
  std::vector<Parameter> parameters;
};

// The functions that are __global__, in their order. Those that macros make are not seen.
std::vector<Signature> kernels_in(std::string_view text);

}  // namespace gradus::cuda::rtc
