// Module 3: kernels. Pointers are to the memory of a device; a function queues its kernels.
#pragma once

#include "core/types.h"

namespace course::gpu {

// Task 3.7. c = a b by tiles in shared memory; a is (m, k), b (k, n), c (m, n), all row-major.
// Every element of a and b is loaded from global memory once for each tile of kTile columns or rows
// of c that needs it.
constexpr int kTile = 16;
void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k);

}  // namespace course::gpu
