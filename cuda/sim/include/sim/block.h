// The place of a thread, and the barriers of its block.
#pragma once

#include <time.h>  // clock()

#include <vector_types.h>

// Variables, as in CUDA. A kernel may take references to them, and use their names for its own. The
// simulator writes them when it goes on to another thread; for each kernel's thread they are
// constant, and the compiler may read them once.
#define GRADUS_SIM_PLACE(name) \
  __asm__("gradus_sim_" #name) __attribute__((tls_model("initial-exec")))
extern const __thread uint3 threadIdx GRADUS_SIM_PLACE(thread_index);
extern const __thread uint3 blockIdx GRADUS_SIM_PLACE(block_index);
extern const __thread dim3 blockDim GRADUS_SIM_PLACE(block_size);
extern const __thread dim3 gridDim GRADUS_SIM_PLACE(grid_size);
#undef GRADUS_SIM_PLACE
extern const int warpSize;  // no constant expression, as in CUDA

void __syncthreads();
int __syncthreads_count(int predicate);
int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);

// Waits for the kernel before, in a launch that may start before that one has ended, and lets the
// next one start.
void cudaGridDependencySynchronize();
__forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {}

void __threadfence_block();
void __threadfence();
void __threadfence_system();
long long clock64();
void __trap();
__forceinline__ void __nanosleep(unsigned) {}  // others run while this thread waits for them

#define __assume(...) static_cast<void>(sizeof((__VA_ARGS__)))  // a hint, without effect
#define __builtin_assume(...) __assume(__VA_ARGS__)
