// Reads an ELF file: the functions of a program, and the variables that its kernels use by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace gradus::cuda::sim {

struct Variable {
  // The qualifier tells: __shared__, __constant__ or __device__. A variable of the host in a .cu
  // file cannot be told from a __device__ one. A section of __constant__ variables counts as one
  // variable without a name.
  enum class Kind { shared, constant, device };
  Kind kind;
  uintptr_t offset;  // shared: into the thread-local memory; else: from where the file is loaded
  size_t size;
  std::string symbol;
};

// The variables of the program or of a library. A file without a symbol table shows only constants.
std::vector<Variable> variables_in(const std::string& path);

// The symbols of its functions, by where they begin, counted from where the file was loaded. A file
// without a symbol table shows only those that it exports.
std::unordered_map<uintptr_t, std::string> functions_in(const std::string& path);

}  // namespace gradus::cuda::sim
