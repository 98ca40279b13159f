// Rendezvous: how the ranks of a group that are threads of one process meet and exchange tensors.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "gradus/distributed/job/watch.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

class Rendezvous {
 public:
  Rendezvous(int size, std::shared_ptr<Failure> failure);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  // All waits end with a DistributedError where the job fails.

  // Waits until all ranks have called it.
  void meet(Watch& watch);

  // The tensor that a rank shows, and its division. All ranks may read both between two meetings.
  struct Exhibit {
    Tensor tensor;
    std::vector<int64_t> counts;
  };
  void show(int rank, Exhibit exhibit) { shown_[static_cast<size_t>(rank)] = std::move(exhibit); }
  const Exhibit& shown(int rank) const { return shown_[static_cast<size_t>(rank)]; }

  // A rank passes its right neighbour one tensor at a time, without a copy. It offers the tensor,
  // and the neighbour takes, reads and releases it. Only then does the rank change it. An offer
  // waits for the release of the last one.
  void offer(int from, const Tensor& x, Watch& watch);
  Tensor take(int from, Watch& watch);
  void release(int from);
  void await_release(int from, Watch& watch);

  // Messages wait here until someone asks for them.
  struct Mail {
    int from, to, tag;
    Tensor content;
  };
  void post(Mail mail);
  // The first message to the rank with this tag, from that rank (-1: any); nothing where there is
  // none.
  std::optional<Mail> collect(int from, int to, int tag);
  // Waits for such a message and leaves it here. False where none came within the watch's timeout.
  bool await_mail(int from, int to, int tag, Watch& watch);

 private:
  struct Hand {
    Tensor offered;
    bool full = false;
  };

  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Watch& watch, Condition condition);
  std::list<Mail>::iterator find(int from, int to, int tag);
  Hand& hand(int rank) { return hands_[static_cast<size_t>(rank)]; }

  int size_;
  std::shared_ptr<Failure> failure_;
  Failure::Handle listener_;
  std::vector<Exhibit> shown_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  int present_ = 0;
  uint64_t meetings_ = 0;
  std::vector<Hand> hands_;
  std::list<Mail> mail_;
};

}  // namespace gradus::distributed
