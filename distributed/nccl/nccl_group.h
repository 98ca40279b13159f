// The backend `nccl`: tensors on GPUs, one GPU for each rank. Private to the library.
#pragma once

#include <nccl.h>

#include "gradus/distributed/job/store.h"
#include "gradus/distributed/nccl/peer_reduce.h"
#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

class NcclGroup final : public ProcessGroup {
 public:
  // The members find each other through the store. device: this rank's GPU.
  NcclGroup(Members members, int device, const std::shared_ptr<Store>& store);
  ~NcclGroup() override;

  const char* backend() const override { return "nccl"; }
  void check_device(const char* op, Device device) const override;

  void broadcast(const Tensor& x, int root) override;
  void all_reduce(const Tensor& x, ReduceOp op) override;
  void all_gather(const Tensor& out, const Tensor& in) override;
  void reduce_scatter(const Tensor& out, const Tensor& in, ReduceOp op) override;
  void all_to_all(const Tensor& out, const Counts& out_counts, const Tensor& in,
                  const Counts& in_counts) override;
  void barrier() override;
  // Memory that is mapped into every process of one machine; copy engines do an all_reduce of
  // tensors in it (peer_reduce.h). Null where a rank sets GRADUS_PEER_COPIES=0, or the GPUs cannot
  // reach each other's memory.
  StoragePtr allocate_shared(size_t nbytes) override;
  // Messages run in one order with the other calls of the group, so two ranks cannot both send
  // first; they use all_to_all. NCCL has no tags: messages meet by their order alone, and src is a
  // rank.
  WorkPtr send(const Tensor& x, int dst, int tag) override;
  WorkPtr recv(const Tensor& x, int src, int tag) override;

 protected:
  bool only_queues() const override { return true; }
  const cuda::Stream& stream(int device) override;

 private:
  // Calls f(communicator, stream), and polls until NCCL has accepted it.
  template <class F>
  void call(const char* what, F f);
  void settle(const char* what, ncclResult_t status);
  void abort();

  int device_;
  std::mutex mutex_;  // guards comm_: the watch aborts it from a thread of its own
  ncclComm_t comm_ = nullptr;
  Failure::Handle listener_;
  std::unique_ptr<PeerReduce> peers_;  // null: NCCL does every all_reduce
  // --- Only the group's thread uses these, with peers_
  std::vector<cuda::Stream> streams_;  // take turns
  size_t turn_ = 0;
  cuda::Event called_;  // marks the last call of NCCL
};

}  // namespace gradus::distributed
