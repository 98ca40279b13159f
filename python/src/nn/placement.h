// The arguments device and dtype of every module.
#pragma once

#include <gradus/nn/nn.h>

#include <optional>
#include <vector>

#include "options.h"

namespace gradus::python {

// The arguments device= and dtype= of every module, taken out of the keywords.
struct Placement {
  explicit Placement(nb::dict& keywords);
  void apply(nn::Module& module) const;
  Param<std::optional<Device>> device;
  Param<std::optional<ScalarType>> dtype;
};
// How many options there are, where all of them have a place.
std::optional<size_t> place_count(const std::vector<OptionText>& options);
// The arguments but those after `places`, which become the keywords device and dtype.
// Errors: TypeError for one that is a keyword, too.
nb::args take_placement(const char* function, const nb::args& args, size_t places,
                        nb::dict& keywords);

}  // namespace gradus::python
