#pragma once
#error "<curand_kernel.h> is not simulated: gradus/tensor/philox.h has random numbers, for kernels too"
