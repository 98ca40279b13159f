// Launch: rank, size and address of this process, read from the launcher's environment variables.
#pragma once

#include <functional>
#include <string>

namespace gradus::distributed {

struct Launch {
  int rank = -1, world_size = -1;
  int local_rank = 0;   // on this machine: the number of the GPU to use
  std::string address;  // where rank 0 serves
  int port = 0;
  std::string token;  // GRADUS_JOB_TOKEN; needed where the address is not loopback
};

// Reads the rank and the number of ranks from the launcher's variables. The first launcher counts:
//   torchrun and its like: RANK, WORLD_SIZE, LOCAL_RANK
//   mpirun (Open MPI): OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK
//   srun (SLURM): SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID
// and MASTER_ADDR and MASTER_PORT, which default to 127.0.0.1 and 29500 where all ranks are on one
// machine. `variable` returns the value of a variable, or null.
// Errors: ValueError, which names the variable and its value, where one is missing or malformed.
using Variables = std::function<const char*(const char* name)>;
Launch read_environment(const Variables& variable);
Launch read_environment();

// "tcp://HOST:PORT" with rank and world size given. Errors: ValueError.
Launch read_url(const std::string& url, int rank, int world_size);

}  // namespace gradus::distributed
