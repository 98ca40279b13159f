// What ends a job of several ranks.
#pragma once

#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

// A rank ended, hung, or called something else than the others. Every rank of the job gets one with
// the same message, and can only go on after destroy_process_group.
class DistributedError : public Error {
  using Error::Error;
};

}  // namespace gradus::distributed
