// AnomalyMode: finding the operation whose gradient went wrong.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace gradus {

class Error;
class Node;

namespace autograd {

// While it is on, every recorded operation keeps the place of its call, and an error in its
// backward names that place. check_nan: a NaN in a gradient is such an error. Slow. The mode is on
// for all threads.
class AnomalyMode {
 public:
  static bool is_enabled() { return enabled_.load(std::memory_order_relaxed); }
  static bool should_check_nan() { return check_nan_.load(std::memory_order_relaxed); }
  static void set_enabled(bool enabled, bool check_nan = true) {
    enabled_.store(enabled, std::memory_order_relaxed);
    check_nan_.store(check_nan, std::memory_order_relaxed);
  }

 private:
  static inline std::atomic<bool> enabled_ = false, check_nan_ = true;
};

// Turns the mode on while it lives; guards nest.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool enabled_before_, check_nan_before_;
};

// The place where an operation was called. The operation's node makes it, on the calling thread.
class ForwardCall {
 public:
  ForwardCall();
  // Warns of an error in the backward of `node` and adds two things to it. First, the calls that
  // led to the node, innermost first, as code_places gives them. Second, where the node was made in
  // the backward of another operation, the calls that led to that operation, and so on.
  static void report(const Node& node, Error& error);

 private:
  std::vector<void*> frames_;
  std::shared_ptr<Node> parent_;
};

}  // namespace autograd
}  // namespace gradus
