// Variables of the program that kernels use by name: __device__ and __constant__. All devices share
// one copy of each.
#pragma once

#include <cstdint>
#include <string>

#include "gradus/cuda/sim/runtime/memory.h"

namespace gradus::cuda::sim {

// Loads the variables of the libraries loaded by now. Call it before kernels run.
void load_variables();

// The address under which the arena keeps the record of a byte of global memory. A byte of a
// __device__ variable has a place in the zone of variables. Any other has the address itself.
uintptr_t global_place(uintptr_t address);

// The bytes of the variable at a place in that zone, and a description where there is none.
Range variable_around(uintptr_t place);
std::string describe_variable(uintptr_t place);

// The constants around an address, which kernels may read. They are __constant__ variables, or
// constexpr tables in a read-only segment. Empty if there are none.
Range constants_around(uintptr_t address);

// Whether these bytes belong to a variable that kernels may use and the host may write.
bool is_variable(const void* data, size_t nbytes);

}  // namespace gradus::cuda::sim
