// The kernels of a program, and the variables that they use by name, by the tables of an ELF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace gradus::cuda::sim {

struct Variable {
  // What __shared__ and __device__ are said of. Variables of the host that stand in a .cu file look
  // like the latter. __constant__ ones come as the sections that they lie in, without names.
  enum class Kind { shared, constant, device };
  Kind kind;
  uintptr_t
      offset;  // into thread-local memory for shared ones, else from where the file was loaded
  size_t size;
  std::string symbol;
};

// Of the program or a library. Without a symbol table there are none but constants.
std::vector<Variable> variables_in(const std::string& path);

// The symbols of its functions, by where they begin, counted from where the file was loaded.
// Without a symbol table those that it exports alone.
std::unordered_map<uintptr_t, std::string> functions_in(const std::string& path);

}  // namespace gradus::cuda::sim
