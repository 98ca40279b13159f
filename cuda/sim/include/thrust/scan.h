#pragma once
#error "<thrust/scan.h> is not simulated: use tensors, or cudaMalloc and a kernel"
