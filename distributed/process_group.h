// ProcessGroup: ranks that communicate. A backend implements a few collectives as plain functions.
// The base class calls them one after the other on a thread of the group, while the caller goes on
// computing, and reports each to the watch. The GPU may still run what one function has queued when
// the next one is called; the thread checks on it until it is done.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gradus/distributed/job/watch.h"
#include "gradus/distributed/reduce_op.h"
#include "gradus/distributed/work.h"
#include "gradus/tensor/base/thread.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

class ProcessGroup {
 public:
  // A group as one of its ranks sees it.
  struct Members {
    std::string name;
    std::vector<int> ranks;  // the members' ranks in the job; member i of the group is ranks[i]
    int rank;                // this rank in the group; -1 where it is not a member
    std::shared_ptr<Watch> watch;
  };

  explicit ProcessGroup(Members members);
  virtual ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  virtual const char* backend() const = 0;
  // Errors: TypeError where the backend does not support tensors on the device.
  virtual void check_device(const char* op, Device device) const = 0;

  const std::string& name() const { return members_.name; }
  int rank() const { return members_.rank; }
  int size() const { return static_cast<int>(members_.ranks.size()); }
  const std::vector<int>& ranks() const { return members_.ranks; }
  // The name of the group whose thread this is; null on other threads.
  static const std::string* served_here();
  Watch& watch() const { return *members_.watch; }
  // Whether this process made it, and so has its thread.
  bool is_here() const { return home_.is_here(); }
  // Shared with parts that may outlive the group.
  const std::shared_ptr<Watch>& shared_watch() const { return members_.watch; }
  // 1, 2, ... at every member: for names in the store that all members make alike.
  int next_number() { return ++number_; }

  // --- The collectives of a backend. They run on the group's thread in the order of submission,
  // which is the same on all ranks. Each returns when its result is computed, or queued on the
  // current stream of its device. Tensors are contiguous, on one device, and of matching sizes;
  // ranks are those of the group. Errors: DistributedError where the job fails meanwhile.
  virtual void broadcast(const Tensor& x, int root) = 0;
  virtual void all_reduce(const Tensor& x, ReduceOp op) = 0;
  // out: the inputs of all ranks, one after the other.
  virtual void all_gather(const Tensor& out, const Tensor& in) = 0;
  // in: as many parts as ranks; out: the combination of all ranks' part `rank()`.
  virtual void reduce_scatter(const Tensor& out, const Tensor& in, ReduceOp op) = 0;
  // in: in_counts[r] elements for rank r, one part after the other; out: out_counts[r] of rank r.
  using Counts = std::vector<int64_t>;
  virtual void all_to_all(const Tensor& out, const Counts& out_counts, const Tensor& in,
                          const Counts& in_counts) = 0;
  virtual void barrier() = 0;

  // Memory in which an all_reduce of this group is faster; null where the backend has none. All
  // ranks call it together, with the same size. An all_reduce then combines tensors that lie at the
  // same place of it at all ranks. Errors: those of the backend, at all ranks.
  virtual StoragePtr allocate_shared(size_t /*nbytes*/) { return nullptr; }

  // --- Messages between two ranks, outside of that order. Between two ranks the n-th send with a
  // tag meets the n-th recv with that tag. src -1: from any rank.
  virtual WorkPtr send(const Tensor& x, int dst, int tag) = 0;
  virtual WorkPtr recv(const Tensor& x, int src, int tag) = 0;

  // Runs f on the group's thread. `what` describes the call with shapes and dtype, the same at all
  // ranks. f uses `tensors`; on a GPU it uses them on a stream of the group, after the work that is
  // queued so far. Errors: DistributedError where the job has failed.
  WorkPtr submit(std::string what, Tensors tensors, std::function<void()> f) {
    return queue(true, std::move(what), std::move(tensors), std::move(f));
  }

 protected:
  // The destructor of a backend calls it first. Queued calls are run, or dropped where the job has
  // failed.
  void join();
  void check_failure() const { watch().failure().check(); }
  // Runs before a collective on the group's thread. Backends whose collectives may compute nonsense
  // where ranks call different ones compare the calls here. Errors: as the collectives'.
  virtual void compare(const std::string& /*what*/) {}
  // Whether collectives of GPU tensors only queue work, so that the next may be called before the
  // last is done. Such collectives call look_after() while they wait for other ranks.
  virtual bool only_queues() const { return false; }
  // Completes calls that the GPU has done, and those that can never end. REQUIRES: called on the
  // group's thread, or before the first call.
  void look_after();
  // Whether the GPU has done what the call has queued. Tests override it to delay the end.
  virtual bool is_done(QueuedWork& work) const { return work.is_reached(); }
  // The stream for the next call on a GPU. REQUIRES: called on the group's thread.
  virtual const cuda::Stream& stream(int device);
  // The same for a message between two ranks, which is not reported to the watch.
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
    Clock::time_point begin;  // when the calls before it had ended
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
  // --- Only the group's thread uses these
  std::map<int, cuda::Stream> streams_;  // by device
  std::deque<Job> under_way_;            // in the order of their start, in which they end
  detail::Thread thread_;
  detail::HomeProcess home_;
};
using Group = std::shared_ptr<ProcessGroup>;

// Makes a group. The last handle to it may be dropped by the group's own thread, when that releases
// the tensors of a call. The thread cannot join itself, so another thread then deletes the group. A
// forked child leaves it alone, and so does a process that cannot start that thread.
template <class G, class... Args>
std::shared_ptr<G> share_group(Args&&... args) {
  return std::shared_ptr<G>(new G(std::forward<Args>(args)...), [](G* group) {
    if (!group->is_here()) return;
    if (!ProcessGroup::served_here()) return delete group;
    try {
      detail::start_detached("the end of a process group", [group] { delete group; });
    } catch (const Error&) {
    }
  });
}

}  // namespace gradus::distributed
