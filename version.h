// The version of the library, equal to PROJECT_VERSION of CMakeLists.txt, and what the build has.
#pragma once

#include <string>

#define GRADUS_VERSION_MAJOR 0
#define GRADUS_VERSION_MINOR 1
#define GRADUS_VERSION_PATCH 0
#define GRADUS_VERSION "0.1.0"

namespace gradus {

// How the library was built, as text. The first line has what its speed depends on: version,
// compiler and options, the instruction set that this process uses, OpenBLAS, CUDA with its
// architectures, whether there are kernels for Hopper. Each further line says one thing: "  NCCL:
// yes". Errors: ValueError where the variable GRADUS_CPU names no instruction set of this build.
std::string show_config();

}  // namespace gradus
