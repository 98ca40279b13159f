// The workers that this thread of the operating system is. The workers and the variables of place.h
// are read at every access, by the fastest model of thread-local variables. The system gives a
// library that is loaded late little memory for that, so both lie in a library of their own
// (CMakeLists.txt).
#pragma once

namespace gradus::cuda::sim {

class Worker;

// here: the worker whose kernel code this thread of the operating system runs; null outside of
// kernels. watching: the same while accesses are checked; null otherwise.
extern constinit thread_local Worker* here [[gnu::tls_model("initial-exec")]];
extern constinit thread_local Worker* watching [[gnu::tls_model("initial-exec")]];

}  // namespace gradus::cuda::sim
