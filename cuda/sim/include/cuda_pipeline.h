// CUDA's header of asynchronous copies, of which the simulator has the functions.
#pragma once

#include <cuda_pipeline_primitives.h>
