#pragma once
#error "<thrust/host_vector.h> is not simulated: use tensors, or cudaMalloc and a kernel"
