// The choice of the code that multiplies matrices on the CPU. Nobody needs to choose; tests and
// benchmarks do.
#pragma once

#include <cstdint>
#include <vector>

namespace gradus {

enum class MatmulKernel : uint8_t {
  automatic,  // own if the processor has vectors of 32 bytes or the build no OpenBLAS, else blas
  own,        // the kernels of this folder
  blas,  // OpenBLAS, if the operands are Float or Double and their rows or columns dense, else own
};

const char* name_of(MatmulKernel kernel);

// The kernels that this build has. OpenBLAS, where it is one of them, is told to use one thread:
// its work is cut up by the threads that all other loops here use.
std::vector<MatmulKernel> matmul_kernels();

// Sets the kernel for all threads, until it is set again. Errors: Error where this build lacks it.
void set_matmul_kernel(MatmulKernel kernel);

}  // namespace gradus
