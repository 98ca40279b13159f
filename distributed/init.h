// init_process_group, new_group and their like, with the names of PyTorch's torch.distributed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gradus/distributed/job/store.h"
#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

// Makes this process (with "threads": this thread) a rank of a job, and waits for all other ranks.
//
// backend: "threads" (ranks are threads of this process), "mpi" (tensors of the CPU), "nccl"
// (CUDA).
// init_method: "env://" (also "") reads the launcher's environment variables, see environment.h;
//   "tcp://HOST:PORT" needs rank and world_size. Rank 0 listens there.
// timeout: how long a call may take before the job ends with a message (60 s).
// store: replaces init_method, and needs rank and world_size; with "threads" a HashStore that all
//   threads share. spawn_threads does all that.
//
// Errors: Error where it was called before, where the backend is not built in, where a rank does
// not come in time, or where the port is taken. ValueError where ranks disagree on the world size,
// where two have the same rank, or where an environment variable is malformed.
void init_process_group(const std::string& backend, const std::string& init_method = "",
                        Milliseconds timeout = Milliseconds(60000), int world_size = -1,
                        int rank = -1, std::shared_ptr<Store> store = nullptr);
bool is_initialized();
// Leaves the group; without a group, the job. Queued calls are run first. Other ranks may still be
// at work. Errors: Error before init_process_group.
void destroy_process_group(const Group& group = nullptr);

// The number of this rank in the group, or in the job where no group is given. -1 where it is not a
// member.
// Errors: Error before init_process_group, here and below.
int get_rank(const Group& group = nullptr);
int get_world_size(const Group& group = nullptr);
std::string get_backend(const Group& group = nullptr);
// A group of these ranks, or of all. All ranks of the job call it, in the same order; a rank that
// is not a member gets a group whose rank() is -1. Errors: ValueError for a rank that does not
// exist or is given twice.
Group new_group(const std::vector<int>& ranks = {});

bool is_mpi_available();
bool is_nccl_available();

}  // namespace gradus::distributed
