// The place where the ranks of a group meet that are threads of one process.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "gradus/distributed/job/watch.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

class Room {
 public:
  Room(int size, std::shared_ptr<Failure> failure);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // All waits end with a DistributedError where the job fails.

  // Until all ranks are here.
  void meet(Watch& watch);

  // A rank shows a tensor, and how it is divided, to be read between two meetings.
  struct Exhibit {
    Tensor tensor;
    std::vector<int64_t> counts;
  };
  void show(int rank, Exhibit exhibit) { shown_[static_cast<size_t>(rank)] = std::move(exhibit); }
  const Exhibit& shown(int rank) const { return shown_[static_cast<size_t>(rank)]; }

  // A hands B, its right neighbour, one tensor at a time, without a copy: A offers, B takes, reads
  // and releases, and A changes it only after that. An offer waits for the release of the last one.
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
  // The first message for a rank with the tag, from the rank (-1: any); nothing where none is here.
  std::optional<Mail> collect(int from, int to, int tag);
  // Waits for one and leaves it here. Whether one has come within the watch's timeout.
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
