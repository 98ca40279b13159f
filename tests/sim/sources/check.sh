#!/bin/sh
# What a compiler says, through cuda/sim/compile, of sources that the simulator does not take.
#
#   check.sh COMPILE COMPILER OPTIONS...
set -u
. "$(dirname "$0")/../../expect.sh"
compile() { # compile OPTIONS...: the source comes from standard input
  cat >"$work/kernel.cu"
  "$@" -std=c++20 -c "$work/kernel.cu" -o "$work/kernel.o" >"$work/said" 2>&1
}
# refused TEXT COMMAND...
refused() {
  text=$1 && shift
  ! compile "$@" || wrong "was compiled, expected: $text"
  grep -qF -- "$text" "$work/said" || wrong "not said: $text"
}
accepted() { compile "$@" || wrong "was not compiled"; }

refused "kernel.cu:3: note: the simulator has no <<<...>>>; kernels start by \
gradus::cuda::launch(kernel, {grid, block}, arguments...)" "$@" <<'END'
// k<<<1, 1>>>(p) is nvcc's
__global__ void k(int* p) { *p = 1; }
void run(int* p) { k<<<1, 32>>>(p); }
END

refused "kernel.cu:3: note: the simulator has no PTX; what uses asm needs a readable twin" "$@" <<'END'
__device__ unsigned lane() {
  unsigned out;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(out));
  return out;
}
__global__ void k(unsigned* p) { *p = lane(); }
END

refused "kernel.cu:2: note: write alignas before __shared__, or use __align__" "$@" <<'END'
__global__ void k(float* p) {
  __shared__ alignas(16) float x[64];
  *p = x[threadIdx.x];
}
END

refused "__managed__ variables are not simulated" "$@" <<'END'
__device__ __managed__ int counter;
END

! compile "$@" <<'END' || wrong "was compiled"
int x = y;
END
! grep -q note: "$work/said" || wrong "a hint without a cause"

# --- Headers that others find where there is a toolkit
for header in cooperative_groups.h curand_kernel.h cub/cub.cuh cuda/atomic cuda/std/array \
  thrust/device_vector.h; do
  refused "kernel.cu:2: error: the simulator has none of NVIDIA's libraries for kernels" "$@" <<END
// #include <cub/cub.cuh>
#include <$header>
END
done
accepted "$@" <<'END'
#include <cuda.h>
#include <cuda_pipeline.h>
#include <device_atomic_functions.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <mma.h>
#include <vector_functions.h>
__global__ void k(int4* p) { *p = make_int4(CUDA_VERSION, threadIdx.x, 0, 0); }
END
[ ! -e "$work/kernel.o.symbols" ] || wrong "files are left"

finish
