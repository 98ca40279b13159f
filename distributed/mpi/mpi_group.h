// The backend `mpi`: tensors of the CPU, by any MPI library. Private to the library.
//
// Calls of MPI are ones that do not wait, and are asked again until they are done, so that the end
// of the job interrupts them; set_up.cpp has those that cannot be asked so. All calls of the
// process stand under one lock; MPI_THREAD_SERIALIZED is enough.
#pragma once

#include <mpi.h>

#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

class MpiGroup final : public ProcessGroup {
 public:
  // Owns comm, which has the members in their order; MPI_COMM_NULL where this rank is none.
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
  WorkPtr send(const Tensor& x, int dst, int tag) override;
  WorkPtr recv(const Tensor& x, int src, int tag) override;

 private:
  // Starts start(request) and asks until it is done; `buffers` are what it reads and writes.
  template <class Start>
  void call(const Tensors& buffers, Start start);

  MPI_Comm comm_;
};

// How often to ask whether something is done: soon at first, then ever less often.
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
// Keeps what MPI may still write to after the job has failed, up to the end of the process.
void abandon(const Tensors& buffers);
// The type to move elements of the tensor by, and that to combine them by.
MPI_Datatype moved_type(const Tensor& x);
MPI_Datatype combined_type(const Tensor& x);
MPI_Op combination(ReduceOp op, const Tensor& x);
// MPI counts in int. Errors: ValueError for more elements.
int counted(int64_t elements);

}  // namespace gradus::distributed
