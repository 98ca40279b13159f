// check_same_module: whether all ranks have the same model. Private to the library.
#pragma once

#include "gradus/distributed/process_group.h"
#include "gradus/nn/module.h"

namespace gradus::distributed {

// Errors: ValueError, the same at all ranks, which names a rank and what differs there.
void check_same_module(const nn::Module& module, ProcessGroup& group);

}  // namespace gradus::distributed
