// The replacement of the backend in a build without MPI.
#include "gradus/distributed/init.h"
#include "gradus/distributed/world.h"
#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

bool is_mpi_available() { return false; }

void set_up_mpi(Setup&, World&) {
  fail<Error>(
      "init_process_group: gradus was built without MPI; install it (libopenmpi-dev) and "
      "configure with -DGRADUS_MPI=AUTO");
}

}  // namespace gradus::distributed
