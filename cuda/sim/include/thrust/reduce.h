#pragma once
#error "<thrust/reduce.h> is not simulated: use tensors, or cudaMalloc and a kernel"
