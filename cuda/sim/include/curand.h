#pragma once
#error "<curand.h> is not simulated: kernels have the generator of gradus/tensor/philox.h"
