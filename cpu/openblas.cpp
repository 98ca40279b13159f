// Finds OpenBLAS, and says how many threads it uses.
#include "gradus/cpu/openblas.h"

#include <atomic>
#include <type_traits>

#include "gradus/cpu/parallel.h"

#ifdef GRADUS_BLAS
#include <cblas.h>
#include <dlfcn.h>
#endif

namespace gradus::cpu {

#ifdef GRADUS_BLAS

namespace {

struct OpenBlas {
  void* file = nullptr;  // null where there is none
  decltype(&openblas_set_num_threads) set_threads = nullptr;
  int (*openmp_threads)() = nullptr;  // null where it has threads of its own
  void (*set_openmp_threads)(int) = nullptr;

  template <class F>
  void load(F& function, const char* name) const {
    function = reinterpret_cast<F>(dlsym(file, name));
  }
};

// GRADUS_BLAS is its path at the time of the build; the other name is that of any installed one.
const OpenBlas& openblas() {
  static const OpenBlas found = [] {
    OpenBlas out;
    out.file = dlopen(GRADUS_BLAS, RTLD_NOW | RTLD_LOCAL);
    if (!out.file) out.file = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!out.file) return out;
    decltype(&openblas_get_parallel) parallel = nullptr;
    out.load(parallel, "openblas_get_parallel");
    out.load(out.set_threads, "openblas_set_num_threads");
    if (!parallel || !out.set_threads) return OpenBlas{};
    out.set_threads(1);  // its threads would compete with ours
    if (parallel() == OPENBLAS_OPENMP) {
      out.load(out.openmp_threads, "omp_get_max_threads");
      out.load(out.set_openmp_threads, "omp_set_num_threads");
    }
    return out;
  }();
  return found;
}

std::atomic<bool> all_threads_in_use = false;

}  // namespace

void* openblas_function(const char* name) {
  return openblas().file ? dlsym(openblas().file, name) : nullptr;
}

// OpenBLAS with OpenMP takes the threads that the calling thread may start.
OneBlasThread::OneBlasThread()
    : before_(openblas().openmp_threads ? openblas().openmp_threads() : 1) {
  if (openblas().set_openmp_threads) openblas().set_openmp_threads(1);
}
OneBlasThread::~OneBlasThread() {
  if (openblas().set_openmp_threads) openblas().set_openmp_threads(before_);
}

AllBlasThreads::AllBlasThreads()
    : owner_(thread_count() > 1 && !all_threads_in_use.exchange(true)) {
  if (owner_ && openblas().set_threads) openblas().set_threads(thread_count());
}
AllBlasThreads::~AllBlasThreads() {
  if (!owner_) return;
  if (openblas().set_threads) openblas().set_threads(1);
  all_threads_in_use = false;
}

#else

void* openblas_function(const char*) { return nullptr; }
OneBlasThread::OneBlasThread() : before_(1) {}
OneBlasThread::~OneBlasThread() = default;
AllBlasThreads::AllBlasThreads() : owner_(false) {}
AllBlasThreads::~AllBlasThreads() = default;

#endif

}  // namespace gradus::cpu
