// A queue between threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>

#include "gradus/tensor/base/error.h"

namespace gradus::data::detail {

template <class T>
class Queue {
 public:
  void push(T value) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push(std::move(value));
    }
    filled_.notify_one();
  }

  // Waits for a value. Errors: Error after `timeout`, where one is given.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock lock(mutex_);
    const auto is_filled = [this] { return !queue_.empty(); };
    if (timeout) {
      check<Error>(filled_.wait_for(lock, *timeout, is_filled),
                   "Timeout in DataLoader queue while waiting for next batch (timeout was ",
                   timeout->count(), " ms); give a longer one, or more workers");
    } else {
      filled_.wait(lock, is_filled);
    }
    T value = std::move(queue_.front());
    queue_.pop();
    return value;
  }

  // Drops what is in it, and returns how much that was.
  size_t clear() {
    const std::lock_guard lock(mutex_);
    const size_t size = queue_.size();
    queue_ = {};
    return size;
  }

 private:
  std::queue<T> queue_;
  std::mutex mutex_;
  std::condition_variable filled_;
};

}  // namespace gradus::data::detail
