// The common part of state_dict() of schedules, of GradScaler and of AveragedModel.
#pragma once

#include <string>

#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/tensor/tensor.h"

namespace gradus::optim {

// Checks a state that is to be loaded against the present one. Errors: ValueError that lists what
// is missing, unknown, or of another shape or dtype.
void check_state(const std::string& name, const OrderedDict<std::string, Tensor>& own,
                 const OrderedDict<std::string, Tensor>& given);

}  // namespace gradus::optim
