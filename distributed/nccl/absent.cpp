// The replacement of the backend in a build without NCCL.
#include "gradus/distributed/init.h"
#include "gradus/distributed/world.h"
#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

bool is_nccl_available() { return false; }

void set_up_nccl(Setup&, World&) {
  fail<Error>(
      "init_process_group: gradus was built without NCCL; install it (libnccl-dev) and "
      "configure with -DGRADUS_CUDA=ON");
}

}  // namespace gradus::distributed
