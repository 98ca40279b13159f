// Runs a function in a forked child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <iostream>

namespace gradus::test {

// Whether f returns true in a child, which a signal ends where it hangs.
template <class F>
bool holds_in_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool good = false;
    try {
      good = f();
    } catch (const std::exception& error) {
      std::cerr << "in the child: " << error.what() << std::endl;
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace gradus::test
