// OpenCalls: what runs on one thread, as observers (tensor/base/observed.h) are told of it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace gradus::profiler {

// The calls that began in one session, a profile or the life of a guard, and have not ended. Call
// describes one of them, as its owner fills it in. A null member `module` says that it is no
// module.
template <class Call>
class OpenCalls {
 public:
  // Enters a session. Returns whether it is another one: then the calls of the last are forgotten.
  bool enter(uint64_t session) {
    if (session_ == session) return false;
    session_ = session;
    calls_.clear();
    dropped_ = 0;
    return true;
  }

  // Opens a call, which f(call) fills in. A call that lacks memory for it is left out with all that
  // is called within it, and the program goes on.
  template <class F>
  void begin(F f) noexcept {
    if (dropped_ > 0) return leave_out();
    const size_t before = calls_.size();
    try {
      f(calls_.emplace_back());
    } catch (...) {
      if (calls_.size() > before) calls_.pop_back();
      leave_out();
    }
  }
  void leave_out() noexcept { ++dropped_; }

  // Closes the innermost call. Returns nothing where it was left out, or began before the session.
  std::optional<Call> end() noexcept {
    if (dropped_ > 0) {
      --dropped_;
      return std::nullopt;
    }
    if (calls_.empty()) return std::nullopt;
    std::optional<Call> last(std::move(calls_.back()));
    calls_.pop_back();
    return last;
  }

  // The outermost first. A call stays at its address while it is open.
  const std::deque<Call>& all() const { return calls_; }
  // The innermost one of a module; null outside of modules.
  const Call* module() const {
    for (auto each = calls_.rbegin(); each != calls_.rend(); ++each)
      if (each->module) return &*each;
    return nullptr;
  }

 private:
  uint64_t session_ = 0;
  std::deque<Call> calls_;
  int dropped_ = 0;  // begins within the innermost open one that were left out
};

}  // namespace gradus::profiler
