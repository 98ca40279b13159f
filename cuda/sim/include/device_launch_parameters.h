// threadIdx and its like, which cuda_runtime.h has.
#pragma once

#include <cuda_runtime.h>
