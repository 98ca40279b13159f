#pragma once
#error "<thrust/sequence.h> is not simulated: use tensors, or cudaMalloc and a kernel"
