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
  static bool is_enabled() { return (keeps_.load(std::memory_order_relaxed) & kAnomaly) != 0; }
  static bool should_check_nan() { return check_nan_.load(std::memory_order_relaxed); }
  static void set_enabled(bool enabled, bool check_nan = true) {
    set(kAnomaly, enabled);
    check_nan_.store(check_nan, std::memory_order_relaxed);
  }

  // Whether operations keep the place of their call: while the mode or a NanGuard is on.
  static bool keeps_places() { return keeps_.load(std::memory_order_relaxed) != 0; }
  static void keep_places_for_guard(bool on) { set(kGuard, on); }

 private:
  enum : unsigned { kAnomaly = 1, kGuard = 2 };
  static void set(unsigned who, bool on) {
    on ? keeps_.fetch_or(who, std::memory_order_relaxed)
       : keeps_.fetch_and(~who, std::memory_order_relaxed);
  }

  static inline std::atomic<unsigned> keeps_ = 0;  // bits
  static inline std::atomic<bool> check_nan_ = true;
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

// The module that this thread calls, as messages name it; null where nobody tells (NanGuard does).
inline constinit thread_local const std::shared_ptr<const std::string>* module_of_call = nullptr;

// The place where an operation was called. The operation's node makes it, on the calling thread.
class ForwardCall {
 public:
  ForwardCall();
  // Warns of an error in the backward of `node` and adds two things to it. First, the calls that
  // led to the node, innermost first, as code_places gives them. Second, where the node was made in
  // the backward of another operation, the calls that led to that operation, and so on.
  static void report(const Node& node, Error& error);

  // The return addresses, innermost first, for code_places and user_line.
  const std::vector<void*>& frames() const { return frames_; }
  // The module_of_call of that time.
  const std::shared_ptr<const std::string>& module() const { return module_; }

 private:
  std::vector<void*> frames_;
  std::shared_ptr<const std::string> module_;
  std::shared_ptr<Node> parent_;
};

}  // namespace autograd
}  // namespace gradus
