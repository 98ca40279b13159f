// The backend `mpi`: tensors on the CPU, by any MPI library. Private to the library.
//
// The group makes non-blocking calls of MPI and polls them until they are done, so that the end of
// the job can interrupt them. set_up.cpp makes the few calls that have no such form. One lock
// guards all calls of the process, so MPI_THREAD_SERIALIZED is enough.
#pragma once

#include <mpi.h>

#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

class MpiGroup final : public ProcessGroup {
 public:
  // Owns comm, which has the members in their order; MPI_COMM_NULL where this rank is not a member.
  MpiGroup(Members members, MPI_Comm comm);
  ~MpiGroup() override;

  const char* backend() const override { return "mpi"; }
  void check_device(const char* op, Device device) const override;

  void broadcast(const Tensor& x, int root) override;
  void all_reduce(const Tensor& x, ReduceOp op) override;
  void all_gather(const Tensor& out, const Tensor& in) override;
  void reduce_scatter(const Tensor& out, const Tensor& in, ReduceOp op) override;
  void all_to_all(const Tensor& out, const Counts& out_counts, const Tensor& in,
                  const Counts& in_counts) override;
  void barrier() override;
  // Where ranks call different collectives MPI may fill a result with what nobody sent.
  void compare(const std::string& what) override;
  WorkPtr send(const Tensor& x, int dst, int tag) override;
  WorkPtr recv(const Tensor& x, int src, int tag) override;

 private:
  // Calls start(request) and polls the request until it is done; it reads and writes `buffers`.
  template <class Start>
  void call(const Tensors& buffers, Start start);
  // Errors: DistributedError where the job fails within two seconds.
  void await_failure() const;

  MPI_Comm comm_;
};

// The pauses of polling: short at first, then longer.
class Patience {
 public:
  explicit Patience(int rounds = 0) : rounds_(rounds) {}
  void pause() {
    if (++rounds_ < 200) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(rounds_ < 1000 ? 20 : 200));
  }

 private:
  int rounds_ = 0;
};

// One call of MPI at a time. Errors: DistributedError where the job fails before its turn.
std::unique_lock<std::mutex> lock_mpi(const Failure& failure);
// Does nothing where the job has failed: MPI would wait for ranks that are gone.
void free_comm(MPI_Comm& comm, const Failure& failure) noexcept;
// Errors: Error with MPI's text.
void check_mpi(int status, const char* what);
// Keeps buffers until the process ends: MPI may still write to them after the job has failed.
void abandon(const Tensors& buffers);
// MPI's type for moving elements of the tensor, and that for combining them.
MPI_Datatype moved_type(const Tensor& x);
MPI_Datatype combined_type(const Tensor& x);
MPI_Op combination(ReduceOp op, const Tensor& x);
// The count as the int that MPI takes. Errors: ValueError where it does not fit.
int counted(int64_t elements);

}  // namespace gradus::distributed
