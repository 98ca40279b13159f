// DistributedError: the error that ends a job of several ranks.
#pragma once

#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

// A rank ended, hung, or made another call than the others. Every rank of the job gets this error
// with the same message. The only call that may follow is destroy_process_group.
class DistributedError : public Error {
  using Error::Error;
};

}  // namespace gradus::distributed
