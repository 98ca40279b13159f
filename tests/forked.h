// Runs a function in a forked child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <iostream>
#include <string>

namespace gradus::test {

// Whether f returns true in a child, which a signal ends where it hangs. No handler of exits runs.
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

// The text, of less than a pipe holds, that f returns in a child.
template <class F>
std::string said_in_child(const F& f) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const bool good = holds_in_child([&] {
    const std::string text = f();
    return ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
  });
  ::close(ends[1]);
  std::string out;
  std::array<char, 512> part{};
  for (ssize_t n = 0; (n = ::read(ends[0], part.data(), part.size())) > 0;)
    out.append(part.data(), static_cast<size_t>(n));
  ::close(ends[0]);
  return good ? out : "the child failed after: " + out;
}

}  // namespace gradus::test
