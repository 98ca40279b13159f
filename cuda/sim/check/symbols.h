// Turns addresses into names and lines, by libbacktrace and the symbol tables of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gradus/cuda/sim/simulator.h"

struct dl_phdr_info;

namespace gradus::cuda::sim {

inline constexpr const char* kSymbolsHeader = __FILE__;

using Trace = std::vector<uintptr_t>;  // the calls that led to a place, innermost first

// The calls that led here, without those of the simulator.
Trace current_trace();
// The frames of the source text, innermost first. An inlined function has its own frame. Frames of
// the simulator are left out. The last frame is the kernel, or main.
std::vector<Frame> frames_of(const Trace& trace);
std::string function_name(const void* function);  // readable
// The name of a symbol without its namespaces and functions: "tile" for kernel(float*)::tile.
std::string readable_name(const std::string& variable);
std::string path_of(const dl_phdr_info& module);  // where its ELF file is
// How many libraries the process has loaded: kernels may come in later, by dlopen.
unsigned long long modules_loaded();

// Arrays of shared memory are the thread-local variables of .cu files. A module is the program or
// one of its libraries. Offsets count from the start of the module's thread-local memory.
struct SharedArray {
  size_t offset, size;
  std::string name, symbol = "";
};
class Module {
 public:
  explicit Module(const std::string& path, size_t nbytes);
  size_t size() const { return size_; }
  // The array that this byte belongs to; null if there is none. The whole memory counts as one
  // array where there is no symbol table.
  const SharedArray* array_at(size_t offset) const;
  // All arrays whose symbols begin with it.
  std::vector<SharedArray> arrays_of(const std::string& prefix) const;

 private:
  size_t size_;
  std::vector<SharedArray> arrays_;  // in the order of their offsets
};

// The thread-local memory of each module, for the calling thread.
struct ModuleMemory {
  const Module* module;
  uintptr_t begin;
};
std::vector<ModuleMemory> thread_local_memory();

// Where this thread of the system has arrays of shared memory whose symbols begin so.
std::vector<std::pair<uintptr_t, size_t>> static_shared_arrays(const std::string& prefix);
// The bytes of the arrays that a kernel declares itself, without those of functions that it calls.
size_t static_shared_bytes(const void* kernel);

}  // namespace gradus::cuda::sim
