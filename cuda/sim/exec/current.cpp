// The workers that this thread of the operating system is.
#include "gradus/cuda/sim/exec/current.h"

namespace gradus::cuda::sim {

constinit thread_local Worker* here = nullptr;
constinit thread_local Worker* watching = nullptr;

}  // namespace gradus::cuda::sim
