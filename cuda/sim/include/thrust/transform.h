#pragma once
#error "<thrust/transform.h> is not simulated: use tensors, or cudaMalloc and a kernel"
