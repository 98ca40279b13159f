// Compiles CUDA C++ text at run time, into kernels for the launch() of cuda/runtime/launch.h:
//
//   const Program program("__global__ void f(float* x, int n) { ... }", {"f"});
//   void* args[] = {&x, &n};
//   detail::launch(program.kernel(0), {grid, block}, args);
//
// On a GPU NVRTC compiles, which is loaded at the first use. On simulated devices the host's g++
// does, and the simulator checks the kernels as it checks those of the library.
//
// Programs are kept in memory until the process ends, and on disk in GRADUS_KERNEL_CACHE
// ($XDG_CACHE_HOME/gradus by default, else ~/.cache/gradus; empty: nowhere). A broken file is
// compiled again; a folder that cannot be written only means that nothing is kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gradus/cuda/rtc/source.h"

namespace gradus::cuda {

// A text with kernels, compiled for the devices that it is used on.
class Program {
 public:
  // kernels: those that can be launched, as C++ names them outside of all namespaces: "f",
  //   "ns::f", "g<float, 4>".
  // options: as NVRTC takes them, "-DNAME=VALUE", "-IFOLDER", "--use_fast_math", ...; the
  //   simulator takes -D, -U, -I and -std= and leaves out others. The standard is C++20.
  // Compiles nothing yet. int8_t to uint64_t, size_t, INFINITY and NAN need no header; on a GPU
  // those of CUDA (cuda_fp16.h) can be included, those of the standard library only where an option
  // names them.
  Program(Source source, std::vector<std::string> kernels, std::vector<std::string> options = {});

  // What detail::launch() takes, for the current device; the same on each call. Compiles where this
  // is the first use on a device of its kind.
  // Errors: CompileError; Error where there is no compiler, or the kernel cannot be loaded.
  const void* kernel(size_t index = 0) const;

  // Begins to compile for that device, on a thread of its own, for which kernel() then waits.
  // Errors: Error where there is no compiler. kernel() has the others.
  void prepare(int device) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// How often a compiler ran in this process: what came from memory or from disk does not count.
int64_t compilations();

}  // namespace gradus::cuda
