// Monitor: checks that the ranks of a job make the same calls. The owner tells it of every call
// that a rank starts and finishes. It detects calls that can never finish. Not thread-safe: its
// owner locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gradus/distributed/job/clock.h"

namespace gradus::distributed {

class Monitor {
 public:
  explicit Monitor(Milliseconds timeout) : timeout_(timeout) {}

  // A rank has made a group of these ranks. All ranks must give a name the same members.
  void open(int rank, const std::string& group, const std::vector<int>& ranks);
  // A rank starts its `sequence`-th call in the group; `call` says which, with shapes and dtype,
  // and must be the same for all.
  void start(int rank, const std::string& group, uint64_t sequence, const std::string& call,
             Clock::time_point now);
  void finish(int rank, const std::string& group, uint64_t sequence);
  // A rank is done with the job.
  void leave(int rank);
  // A rank is gone or gives up. `why` is the rest of a sentence that begins "rank 1 ".
  void lose(int rank, const std::string& why);
  // Finds calls that not all ranks have finished within the timeout.
  void check_time(Clock::time_point now);

  // The first failure, as the one message for all ranks.
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  struct Call {
    std::string text;
    int first_rank;
    Clock::time_point begin;
    std::set<int> started, finished;
  };
  struct Group {
    std::vector<int> ranks;
    std::map<uint64_t, Call> calls;         // those that not all ranks have finished
    std::map<int, std::string> last_calls;  // of each rank: "17, barrier"
  };

  void fail(const std::string& text);
  void check_departed(const std::string& name, uint64_t sequence, const Call& call);
  std::string describe(const std::string& group, uint64_t sequence, const Call& call) const;

  Milliseconds timeout_;
  std::map<std::string, Group> groups_;
  std::set<int> left_;
  std::optional<std::string> failure_;
};

}  // namespace gradus::distributed
