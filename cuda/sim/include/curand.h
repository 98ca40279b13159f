#pragma once
#error "<curand.h> is not simulated: gradus/tensor/philox.h has random numbers, for kernels too"
