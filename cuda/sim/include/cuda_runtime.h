// The words of a kernel: qualifiers, the place of a thread, barriers, warps, atomics.
#pragma once

#ifdef __CUDACC__
#include <sim/library.h>
#endif

#include <cuda_runtime_api.h>
#include <device_functions.h>
#include <sim/atomics.h>
#include <sim/block.h>
#include <sim/tensor_core.h>
#include <sim/warp.h>
