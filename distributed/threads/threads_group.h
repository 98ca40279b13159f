// The backend `threads`: the ranks are threads of this process. The backend exists to be read, and
// for tests without a network. Tensors may be on the CPU and on any CUDA device.
#pragma once

#include "gradus/distributed/process_group.h"
#include "gradus/distributed/threads/rendezvous.h"

namespace gradus::distributed {

class ThreadsGroup final : public ProcessGroup {
 public:
  // All members have the same room.
  ThreadsGroup(Members members, std::shared_ptr<Rendezvous> room);
  ~ThreadsGroup() override;

  const char* backend() const override { return "threads"; }
  void check_device(const char*, Device) const override {}

  void broadcast(const Tensor& x, int root) override;
  // ring.cpp holds these.
  void all_reduce(const Tensor& x, ReduceOp op) override;
  void all_gather(const Tensor& out, const Tensor& in) override;
  void reduce_scatter(const Tensor& out, const Tensor& in, ReduceOp op) override;
  void all_to_all(const Tensor& out, const Counts& out_counts, const Tensor& in,
                  const Counts& in_counts) override;
  void barrier() override;
  WorkPtr send(const Tensor& x, int dst, int tag) override;
  WorkPtr recv(const Tensor& x, int src, int tag) override;

 private:
  void meet() { room_->meet(watch()); }
  template <class Use>
  void hand_on(const Tensor& give, Use use);
  void sum_around(const Tensors& chunks, ReduceOp op);
  void copy_around(const Tensors& chunks);

  std::shared_ptr<Rendezvous> room_;
};

// Waits until a GPU has computed x, so that another thread may read it.
void settle(const Tensor& x);

}  // namespace gradus::distributed
