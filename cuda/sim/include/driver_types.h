// The types of the runtime, which cuda_runtime_api.h has.
#pragma once

#include <cuda_runtime_api.h>
