#pragma once
#error "<thrust/device_ptr.h> is not simulated: use tensors, or cudaMalloc and a kernel"
