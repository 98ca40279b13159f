// GRADUS_HD marks functions that run on the host and in kernels.
#pragma once

#ifdef __CUDACC__
#define GRADUS_HD __host__ __device__
#else
#define GRADUS_HD
#endif
