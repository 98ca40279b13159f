// CUDA's products of tensor cores by the warp, as far as the simulator has them.
#pragma once

#include <sim/wmma.h>
