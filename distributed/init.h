// How ranks become a job, with the names of PyTorch's torch.distributed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gradus/distributed/job/store.h"
#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

// Makes this process (for "threads": this thread) a rank of a job, and waits until all are here.
//
// backend: "threads" (ranks are threads of this process), "mpi" (tensors of the CPU), "nccl"
// (CUDA). init_method: "env://" (also "") for what the launcher says, see environment.h; or
//   "tcp://HOST:PORT" with rank and world_size. Rank 0 listens there.
// timeout: what a call may take before the job ends with a message (60 s).
// store: instead of init_method, with rank and world_size; for "threads" a HashStore that all
//   threads share. spawn_threads does all that.
//
// Errors: Error where it has been called, the backend is not built in, a rank does not come in
// time, or the port is taken; ValueError where ranks disagree on the world size, two have the same
// rank, or the environment is garbled.
void init_process_group(const std::string& backend, const std::string& init_method = "",
                        Milliseconds timeout = Milliseconds(60000), int world_size = -1,
                        int rank = -1, std::shared_ptr<Store> store = nullptr);
bool is_initialized();
// Leaves the group, or, without one, the job: what is queued is run first. The last ranks may still
// be at work. Errors: Error before init_process_group.
void destroy_process_group(const Group& group = nullptr);

// Without a group: in the job. -1 where this rank is not in the group.
// Errors: Error before init_process_group, here and below.
int get_rank(const Group& group = nullptr);
int get_world_size(const Group& group = nullptr);
std::string get_backend(const Group& group = nullptr);
// A group of these ranks, or of all. All ranks of the job call it, in the same order; at those that
// are no members its rank() is -1. Errors: ValueError for a rank that is none, or given twice.
Group new_group(const std::vector<int>& ranks = {});

bool is_mpi_available();
bool is_nccl_available();

}  // namespace gradus::distributed
