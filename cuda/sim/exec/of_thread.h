// Variables of a thread of the operating system that serve to the very end of the program. Streams
// may hold work until then, which runs when the main thread's other variables are gone.
#pragma once

#include <utility>

namespace gradus::cuda::sim {

// The calling thread's T. It is deleted with the thread's variables; a call after that makes
// another one, which stays.
template <class T>
T& of_thread() {
  thread_local constinit T* one = nullptr;
  if (!one) {
    one = new T();
    struct End {
      ~End() { delete std::exchange(one, nullptr); }
    };
    thread_local const End end;
  }
  return *one;
}

}  // namespace gradus::cuda::sim
