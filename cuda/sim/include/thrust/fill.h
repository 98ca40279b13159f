#pragma once
#error "<thrust/fill.h> is not simulated: use tensors, or cudaMalloc and a kernel"
