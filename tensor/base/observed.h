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
  // Whether there is one.
  static bool any() { return first_.load(std::memory_order_relaxed) != nullptr; }
  // All of them, the last one first. The loops are not inlined where a T runs, to keep that short.
  [[gnu::cold, gnu::noinline]] static void begin_all(const T& what) noexcept {
    for (Observer* each = first_.load(); each; each = each->next_.load()) each->begin(what);
  }
  [[gnu::cold, gnu::noinline]] static void end_all() noexcept {
    for (Observer* each = first_.load(); each; each = each->next_.load()) each->end();
  }

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
  explicit Observed(const T& what) : told_(Observer<T>::any()) {
    if (told_) [[unlikely]]
      Observer<T>::begin_all(what);
  }
  ~Observed() {
    if (told_) [[unlikely]]
      Observer<T>::end_all();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  const bool told_;
};

}  // namespace gradus
