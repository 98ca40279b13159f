#pragma once
#error "<curand_kernel.h> is not simulated: kernels have the generator of gradus/tensor/philox.h"
