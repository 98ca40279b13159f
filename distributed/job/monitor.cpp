// The calls that the ranks have made, and the message of the first thing that cannot end well.
#include "gradus/distributed/job/monitor.h"

#include <cstdio>

#include "gradus/tensor/shape.h"

namespace gradus::distributed {

namespace {

std::string listed(const std::set<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (const int rank : ranks) text += (rank == *ranks.begin() ? "" : ", ") + std::to_string(rank);
  return text;
}

std::string listed(const std::vector<int>& ranks) {
  return listed(std::set<int>(ranks.begin(), ranks.end()));
}

}  // namespace

std::string in_seconds(Clock::duration time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g s", std::chrono::duration<double>(time).count());
  return text;
}

void Monitor::open(int rank, const std::string& name, const std::vector<int>& ranks) {
  const auto [at, fresh] = groups_.try_emplace(name);
  if (fresh) at->second.ranks = ranks;
  if (at->second.ranks != ranks)
    fail("rank " + std::to_string(rank) + " made group '" + name + "' of " + listed(ranks) +
         ", and another rank made it of " + listed(at->second.ranks) +
         "; all ranks must call new_group alike");
}

void Monitor::start(int rank, const std::string& name, uint64_t sequence, const std::string& text,
                    Clock::time_point now) {
  Group& group = groups_[name];
  group.last_calls[rank] = std::to_string(sequence) + ", " + text;
  const auto [at, fresh] = group.calls.try_emplace(sequence, Call{text, rank, now, {}, {}});
  Call& call = at->second;
  call.started.insert(rank);
  if (call.text != text)
    return fail("rank " + std::to_string(rank) + " called " + text + " as operation " +
                std::to_string(sequence) + " of group '" + name + "', where rank " +
                std::to_string(call.first_rank) + " called " + call.text +
                "; all ranks must make the same calls in the same order");
  check_departed(name, sequence, call);
}

void Monitor::finish(int rank, const std::string& name, uint64_t sequence) {
  Group& group = groups_[name];
  const auto at = group.calls.find(sequence);
  if (at == group.calls.end()) return;
  at->second.finished.insert(rank);
  if (at->second.finished.size() == group.ranks.size()) group.calls.erase(at);
}

// A call waits in vain for a rank that has left without it.
void Monitor::check_departed(const std::string& name, uint64_t sequence, const Call& call) {
  for (const int rank : groups_[name].ranks)
    if (left_.contains(rank) && !call.started.contains(rank))
      return fail("rank " + std::to_string(rank) + " has left the job, while " +
                  describe(name, sequence, call));
}

void Monitor::leave(int rank) {
  left_.insert(rank);
  for (const auto& [name, group] : groups_)
    for (const auto& [sequence, call] : group.calls) check_departed(name, sequence, call);
}

void Monitor::lose(int rank, const std::string& why) {
  if (left_.contains(rank)) return;
  std::string text = "rank " + std::to_string(rank) + ' ' + why;
  for (const auto& [name, group] : groups_) {
    for (const auto& [sequence, call] : group.calls)
      return fail(text + ", while " + describe(name, sequence, call));
  }
  for (const auto& [name, group] : groups_)
    if (const auto last = group.last_calls.find(rank); last != group.last_calls.end())
      return fail(text + "; its last operation in group '" + name + "' was " + last->second);
  fail(text);
}

void Monitor::check_time(Clock::time_point now) {
  for (const auto& [name, group] : groups_)
    for (const auto& [sequence, call] : group.calls)
      if (now - call.begin >= timeout_) {
        std::string text = describe(name, sequence, call) + " for " + in_seconds(timeout_);
        for (const int rank : group.ranks) {
          if (call.started.contains(rank)) continue;
          const auto last = group.last_calls.find(rank);
          text += "; rank " + std::to_string(rank) + " has not called it" +
                  (last == group.last_calls.end() ? ", nor anything else in this group"
                                                  : " (its last was " + last->second + ")");
        }
        return fail("timed out: " + text);
      }
}

// "ranks 0, 2 wait in operation 17 of group 'world', all_reduce(SUM) Float [2, 3]"
std::string Monitor::describe(const std::string& group, uint64_t sequence, const Call& call) const {
  std::set<int> waiting;
  for (const int rank : call.started)
    if (!call.finished.contains(rank)) waiting.insert(rank);
  if (waiting.empty()) waiting = call.started;
  return listed(waiting) + (waiting.size() == 1 ? " waits" : " wait") + " in operation " +
         std::to_string(sequence) + " of group '" + group + "', " + call.text;
}

void Monitor::fail(const std::string& text) {
  if (!failure_) failure_ = "distributed: " + text;
}

}  // namespace gradus::distributed
