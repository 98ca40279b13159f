// From addresses to names and lines, by libbacktrace and the symbol tables of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gradus/cuda/sim/simulator.h"

struct dl_phdr_info;

namespace gradus::cuda::sim {

inline constexpr const char* kSymbolsHeader = __FILE__;

using Trace = std::vector<uintptr_t>;  // the calls that led to a place, innermost first

// The calls that led here, without those of the simulator.
Trace current_trace();
// Of the source text, innermost first; functions that were inlined have a frame each. Frames of the
// simulator are left out, and those of a kernel end with the kernel, others with main.
std::vector<Frame> frames_of(const Trace& trace);
std::string function_name(const void* function);  // readable
// Of a symbol, without namespaces and functions around it: "tile" for kernel(float*)::tile.
std::string readable_name(const std::string& variable);
std::string path_of(const dl_phdr_info& module);  // where its ELF file is

// Arrays of shared memory are the thread-local variables of .cu files. One module is the program or
// one of its libraries; all offsets count from where its thread-local memory begins.
struct SharedArray {
  size_t offset, size;
  std::string name, symbol = "";
};
class Module {
 public:
  explicit Module(const std::string& path, size_t nbytes);
  size_t size() const { return size_; }
  // The array that has this byte; null where there is none. Without a symbol table every byte
  // belongs to one array, the whole.
  const SharedArray* array_at(size_t offset) const;
  size_t bytes_of(const std::string& prefix) const;  // all arrays whose symbols begin so

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

// Of the arrays that a kernel declares itself; those of functions that it calls are not counted.
size_t static_shared_bytes(const void* kernel);

}  // namespace gradus::cuda::sim
