// Threads that the library starts for itself. One that cannot start is an error, and never the end
// of the process.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "gradus/tensor/base/error.h"

namespace gradus {

// The system starts no thread, or a fork has left one behind.
class ThreadError : public Error {
  using Error::Error;
};

namespace detail {

// The process in which an object was made. A forked child has only the thread that forked it, so
// the threads that serve the object are missing there.
class HomeProcess {
 public:
  HomeProcess();
  bool is_here() const;

 private:
  int forks_;
};

// A thread that its destructor joins.
class Thread {
 public:
  Thread() = default;
  // Runs f. Errors: ThreadError, which names the purpose, such as "backward: a deep graph".
  Thread(const std::string& purpose, std::function<void()> f);
  Thread(Thread&& other) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  // Whether it was started, in this process, and not joined.
  bool is_here() const;
  // Waits for its end, if it is here.
  void join();

 private:
  std::thread thread_;
  HomeProcess home_;
};

// Runs f on a thread that nobody waits for. Errors: as Thread's.
void start_detached(const std::string& purpose, std::function<void()> f);

}  // namespace detail
}  // namespace gradus
