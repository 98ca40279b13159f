#pragma once
#error "<thrust/copy.h> is not simulated: use tensors, or cudaMalloc and a kernel"
