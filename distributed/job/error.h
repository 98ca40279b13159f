// DistributedError: the error that ends a job of several ranks.
#pragma once

#include <string_view>

#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

// A rank ended, hung, or made another call than the others. Every rank of the job gets this error
// with the same message. The only call that may follow is destroy_process_group.
class DistributedError : public Error {
  using Error::Error;
};

// Errors: Error where the object of the call was made before this process was forked.
inline void check_here(bool is_here, std::string_view op) {
  check<Error>(
      is_here, op,
      ": this process was forked after init_process_group, and the job's threads and "
      "connections are its parent's; fork first, then call init_process_group in each process");
}

}  // namespace gradus::distributed
