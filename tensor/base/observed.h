// What a profiler is told of: calls of modules, nodes of a backward pass, steps of optimizers.
#pragma once

#include <atomic>

namespace gradus {

// Is told of each T that runs while it is the current one. Ends follow begins as scopes do, on the
// same thread. An observer is never destroyed, since a thread may still be about to tell it.
template <class T>
class Observer {
 public:
  virtual void begin(const T& what) noexcept = 0;
  virtual void end() noexcept = 0;

  static inline std::atomic<Observer*> current{nullptr};

 protected:
  ~Observer() = default;
};

// Stands where a T runs. Where nobody observes, it costs the load of a flag.
template <class T>
class Observed {
 public:
  explicit Observed(const T& what)
      : observer_(Observer<T>::current.load(std::memory_order_relaxed)) {
    if (observer_) [[unlikely]]
      observer_->begin(what);
  }
  ~Observed() {
    if (observer_) [[unlikely]]
      observer_->end();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  Observer<T>* const observer_;
};

}  // namespace gradus
