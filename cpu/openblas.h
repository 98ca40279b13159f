// OpenBLAS, which is loaded when it is first used, since its threads and buffers take time and
// memory that most programs need not spend.
#pragma once

namespace gradus::cpu {

// One of its functions, BLAS's or LAPACK's; null where this build or machine has no OpenBLAS, or
// where that one lacks it.
void* openblas_function(const char* name);

// While it lives, calls of this thread use one thread of OpenBLAS, the calling one.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int before_;
};

// While it lives, OpenBLAS uses as many threads as this library does. One thread at a time has
// this: beside it others get the calling thread alone, or what the first one has.
class AllBlasThreads {
 public:
  AllBlasThreads();
  ~AllBlasThreads();
  AllBlasThreads(const AllBlasThreads&) = delete;
  AllBlasThreads& operator=(const AllBlasThreads&) = delete;

 private:
  bool owner_;
};

}  // namespace gradus::cpu
