// Variables of the program that kernels use by name: __device__ and __constant__. There is one copy
// of each, whatever the device.
#pragma once

#include <cstdint>
#include <string>

#include "gradus/cuda/sim/runtime/memory.h"

namespace gradus::cuda::sim {

void load_variables();  // before kernels run

// Where the arena keeps what is known of a byte of global memory: for one of a __device__ variable
// a place in a zone for these, else the address itself.
uintptr_t global_place(uintptr_t address);

// At a place in that zone: the variable's bytes, and what lies there where it is in none.
Range variable_around(uintptr_t place);
std::string describe_variable(uintptr_t place);

// What kernels may read besides: __constant__ variables, and constexpr tables, which lie in a
// segment that nobody can write. Empty where the address is in none.
Range constants_around(uintptr_t address);

// Whether these bytes are of a variable that kernels may use, and the host may write.
bool is_variable(const void* data, size_t nbytes);

}  // namespace gradus::cuda::sim
