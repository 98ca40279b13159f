#pragma once
#error "<thrust/sort.h> is not simulated: use tensors, or cudaMalloc and a kernel"
