// StopSignal: whether the system has asked the program to end.
#pragma once

#include <csignal>
#include <memory>
#include <vector>

namespace gradus::watch {

// A cluster sends SIGTERM, or the signal that a job names, before it ends the job. Ctrl+C sends
// SIGINT. While the object lives such a signal ends nothing: the training ends by itself, where it
// can go on later.
//
//   watch::StopSignal stop;
//   for (auto& [x, y] : loader) {
//     ...
//     if (stop.requested()) { checkpoints.save(step); break; }
//   }
//
// The second signal of a kind ends the program at once.
class StopSignal {
 public:
  // Errors: Error while another one lives; ValueError for a number that is no signal, and for one
  // that no program can catch.
  explicit StopSignal(const std::vector<int>& signals = {SIGTERM, SIGINT});
  // The handlers from before are back.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const { return signal() != 0; }
  // The first signal that came; 0: none yet.
  int signal() const;

 private:
  struct Handlers;
  std::unique_ptr<Handlers> before_;
};

}  // namespace gradus::watch
