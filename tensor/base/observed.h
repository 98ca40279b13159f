// What a profiler is told of: calls of modules, nodes of a backward pass, steps of optimizers.
#pragma once

#include <atomic>
#include <mutex>

namespace gradus {

// Is told of each T that runs between add() and remove(). Ends follow begins as scopes do, on the
// same thread; an observer that was added meanwhile is told of ends without a begin. An observer is
// never destroyed, since a thread may still be about to tell it.
template <class T>
class Observer {
 public:
  virtual void begin(const T& what) noexcept = 0;
  virtual void end() noexcept = 0;

  // REQUIRES: the calls for one observer alternate.
  static void add(Observer& observer) {
    const std::lock_guard lock(mutex_);
    observer.next_.store(first_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    first_.store(&observer, std::memory_order_release);
  }
  static void remove(Observer& observer) {
    const std::lock_guard lock(mutex_);
    std::atomic<Observer*>* at = &first_;
    while (Observer* const here = at->load(std::memory_order_relaxed)) {
      if (here == &observer)
        at->store(here->next_.load(std::memory_order_relaxed), std::memory_order_release);
      at = &here->next_;
    }
  }
  // The one that was added last; null: nobody observes.
  static Observer* first() { return first_.load(std::memory_order_acquire); }
  Observer* next() const { return next_.load(std::memory_order_acquire); }

 protected:
  ~Observer() = default;

 private:
  static inline std::atomic<Observer*> first_{nullptr};
  static inline std::mutex mutex_;
  std::atomic<Observer*> next_{nullptr};
};

// Stands where a T runs. Where nobody observes, it costs the load of a flag.
template <class T>
class Observed {
 public:
  explicit Observed(const T& what) : told_(Observer<T>::first() != nullptr) {
    if (told_) [[unlikely]]
      for (Observer<T>* each = Observer<T>::first(); each; each = each->next()) each->begin(what);
  }
  ~Observed() {
    if (told_) [[unlikely]]
      for (Observer<T>* each = Observer<T>::first(); each; each = each->next()) each->end();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  const bool told_;
};

}  // namespace gradus
