// The driver's interface is not simulated; many include it for this version alone.
#pragma once

#define CUDA_VERSION 13000
