// Functions by which a kernel asks about its thread and its block.

#include <sim/block.h>

#include <chrono>

#include "gradus/cuda/sim/exec/dynamic_shared.h"
#include "gradus/cuda/sim/exec/worker.h"

alignas(1024) thread_local unsigned char gradus_sim_dynamic_shared
    [gradus::cuda::sim::kMostDynamicShared];

const int warpSize = 32;

using gradus::cuda::sim::BarrierOp;
using gradus::cuda::sim::here;

void __syncthreads() { here->barrier(BarrierOp::none, 0, GRADUS_SIM_CALLER); }
int __syncthreads_count(int predicate) {
  return static_cast<int>(here->barrier(BarrierOp::count, predicate, GRADUS_SIM_CALLER));
}
int __syncthreads_and(int predicate) {
  return static_cast<int>(here->barrier(BarrierOp::all, predicate, GRADUS_SIM_CALLER));
}
int __syncthreads_or(int predicate) {
  return static_cast<int>(here->barrier(BarrierOp::any, predicate, GRADUS_SIM_CALLER));
}

void cudaGridDependencySynchronize() { here->current->early = false; }

void __threadfence_block() { here->fence(); }
void __threadfence() { here->fence(); }
void __threadfence_system() { here->fence(); }

long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
