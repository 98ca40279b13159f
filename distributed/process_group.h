// ProcessGroup: ranks that communicate. A backend implements a few collectives as plain functions;
// the base class calls them one after the other on a thread of the group, so that the caller
// computes meanwhile, and tells the watch of each. What a function has queued on a GPU goes on
// while the next one is called; the thread looks after it until it is done.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gradus/distributed/job/watch.h"
#include "gradus/distributed/reduce_op.h"
#include "gradus/distributed/work.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

class ProcessGroup {
 public:
  // What all ranks know of a group, and the view of one of them.
  struct Members {
    std::string name;
    std::vector<int> ranks;  // the members by their rank in the job; their order is that here
    int rank;                // this member, in [0, ranks.size()); -1 where it is none
    std::shared_ptr<Watch> watch;
  };

  explicit ProcessGroup(Members members);
  virtual ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  virtual const char* backend() const = 0;
  // Errors: TypeError where it does not communicate tensors of the device.
  virtual void check_device(const char* op, Device device) const = 0;

  const std::string& name() const { return members_.name; }
  int rank() const { return members_.rank; }
  int size() const { return static_cast<int>(members_.ranks.size()); }
  const std::vector<int>& ranks() const { return members_.ranks; }
  // The name of the group whose calls this thread runs; null where it is no thread of a group.
  static const std::string* served_here();
  Watch& watch() const { return *members_.watch; }
  // For names in the store that the members use in turn: 1, 2, ... at each of them.
  int next_number() { return ++number_; }

  // --- The collectives of a backend. They run on the group's thread, in the order of their
  // submission, which is the same on all ranks, and end when the result is there, or queued on the
  // current stream of its device. Tensors are contiguous, on one device, and fit each other; ranks
  // are those of the group. Errors: DistributedError where the job fails meanwhile.
  virtual void broadcast(const Tensor& x, int root) = 0;
  virtual void all_reduce(const Tensor& x, ReduceOp op) = 0;
  // out: the inputs of all ranks, one after the other.
  virtual void all_gather(const Tensor& out, const Tensor& in) = 0;
  // in: as many parts as ranks; out: the combination of everyone's part `rank()`.
  virtual void reduce_scatter(const Tensor& out, const Tensor& in, ReduceOp op) = 0;
  // in: in_counts[r] elements for rank r, one part after the other; out: out_counts[r] of rank r.
  using Counts = std::vector<int64_t>;
  virtual void all_to_all(const Tensor& out, const Counts& out_counts, const Tensor& in,
                          const Counts& in_counts) = 0;
  virtual void barrier() = 0;

  // Memory in which an all_reduce of this group is faster than elsewhere, of as many bytes at all
  // ranks, who call this together; null where there is none such. What lies at the same place in it
  // at all ranks is combined. Errors: those of the backend, at all ranks.
  virtual StoragePtr allocate_shared(size_t /*nbytes*/) { return nullptr; }

  // --- From one rank to another, outside of that order: the n-th send meets the n-th receipt
  // between two ranks with one tag. src -1: from any rank.
  virtual WorkPtr send(const Tensor& x, int dst, int tag) = 0;
  virtual WorkPtr recv(const Tensor& x, int src, int tag) = 0;

  // Runs f on the group's thread, as the call that `what` describes, with shapes and dtype; all
  // ranks describe it alike. `tensors` are what f uses; those of a GPU are used on a stream of the
  // group, behind the work that is queued so far. Errors: DistributedError where the job failed.
  WorkPtr submit(std::string what, Tensors tensors, std::function<void()> f) {
    return queue(true, std::move(what), std::move(tensors), std::move(f));
  }

 protected:
  // To be called first by the destructor of a backend: what is queued is run, or, where the job
  // failed, dropped.
  void join();
  void check_failure() const { watch().failure().check(); }
  // Whether collectives of GPU tensors only queue work, so that the next one may be called before
  // the last one is done. They call look_after() where they have to wait for other ranks.
  virtual bool only_queues() const { return false; }
  // Ends the calls that the GPU has done, or that cannot end. REQUIRES: on the group's thread, or
  // before the first call.
  void look_after();
  // Whether the GPU has done what the call has queued; a test may hold it back.
  virtual bool is_done(QueuedWork& work) const { return work.is_reached(); }
  // On which the next call for a GPU queues. REQUIRES: on the group's thread.
  virtual const cuda::Stream& stream(int device);
  // A call of two ranks, which the others know nothing of.
  WorkPtr submit_message(std::string what, Tensors tensors, std::function<void()> f) {
    return queue(false, std::move(what), std::move(tensors), std::move(f));
  }

 private:
  struct Job {
    uint64_t sequence = 0;  // 0: of a message, which the watch is not told of
    std::string what;
    std::function<void()> f;
    std::shared_ptr<QueuedWork> work;
    cuda::Event inputs_ready;
    Clock::time_point begin;  // when it was next to end
    std::exception_ptr error;
  };

  WorkPtr queue(bool watched, std::string what, Tensors tensors, std::function<void()> f);
  void run_jobs();
  void start(Job job);
  void run_on_gpu(Job& job);
  bool is_over(Job& job);
  std::exception_ptr spread_error(const Job& job) const;

  Members members_;
  int number_ = 0;
  std::mutex mutex_;  // guards what follows up to the thread
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  uint64_t sequence_ = 0;
  bool ends_ = false;
  // --- Of the group's thread alone
  std::map<int, cuda::Stream> streams_;  // by device
  std::deque<Job> under_way_;            // in the order of their start, in which they end
  std::thread thread_;
};
using Group = std::shared_ptr<ProcessGroup>;

// Makes a group. The last one who lets go of it may be a thread of a group, which ends what a call
// has held, and cannot wait for itself: another thread ends the group then.
template <class G, class... Args>
std::shared_ptr<G> share_group(Args&&... args) {
  return std::shared_ptr<G>(new G(std::forward<Args>(args)...), [](G* group) {
    if (!ProcessGroup::served_here()) return delete group;
    std::thread([group] { delete group; }).detach();
  });
}

}  // namespace gradus::distributed
