// Lets the system refuse threads to the program that includes this, in one source.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <climits>

namespace gradus::test {

// How many threads may still be started.
inline std::atomic<int> threads_allowed{INT_MAX};

// While it lives, `count` threads start, and no more.
struct ThreadsAllowed {
  explicit ThreadsAllowed(int count) { threads_allowed = count; }
  ~ThreadsAllowed() { threads_allowed = INT_MAX; }
  ThreadsAllowed(const ThreadsAllowed&) = delete;
  ThreadsAllowed& operator=(const ThreadsAllowed&) = delete;
};

}  // namespace gradus::test

// Comes before that of the C library.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*f)(void*), void* argument) noexcept {
  using gradus::test::threads_allowed;
  if (threads_allowed != INT_MAX && threads_allowed.fetch_sub(1) <= 0) return EAGAIN;
  static const auto start =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return start(thread, attributes, f, argument);
}
