#pragma once
#error "<thrust/device_vector.h> is not simulated: use tensors, or cudaMalloc and a kernel"
