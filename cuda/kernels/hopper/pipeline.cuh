// The pipeline of the kernels for Hopper: a producer asks the tensor memory accelerator (TMA) for
// tiles some steps ahead, and warpgroups of consumers multiply them. The tiles fill a ring of
// stages in shared memory.
//
// Kernels write their loops over tiles themselves: where functions take the roles as closures, the
// compiler makes other loops over the steps.
#pragma once

#include "gradus/cuda/kernels/hopper/wgmma.cuh"

namespace gradus::cuda::hopper {

// Bytes for the barriers of a block, which has at most 227 KiB of shared memory.
inline constexpr int kBarrierBytes = 256;
// The stages of a block that has `other` bytes beside them and the barriers, where a multiprocessor
// has so many blocks.
constexpr int stages_that_fit(int stage_bytes, int other = 0, int blocks = 1) {
  return ((228 / blocks - 1) * 1024 - kBarrierBytes - other) / stage_bytes;
}

// A ring of stages, and the place of a thread in it. A phase of a stage's barrier `full` ends when
// all bytes of a load have come, and one of `empty` when all consumers have released the stage.
template <int kStages, int kStageBytes, int kCluster = 1>
struct Ring {
  char* stages;
  uint64_t *full, *empty;
  int stage = 0, parity = 0;

  // The barriers lie `gap` bytes behind the last stage.
  __device__ explicit Ring(char* first, int gap = 0)
      : stages(first),
        full(reinterpret_cast<uint64_t*>(first + kStages * kStageBytes + gap)),
        empty(full + kStages) {}

  __device__ void init(int consumers) const {
    for (int i = 0; i < kStages; ++i) init_barrier(&full[i], 1), init_barrier(&empty[i], consumers);
  }
  __device__ char* tile() const { return stages + stage * kStageBytes; }
  __device__ uint64_t* loads() const { return &full[stage]; }
  __device__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }

  // --- Producer
  __device__ void wait_until_empty() const { wait_for(&empty[stage], parity ^ 1); }
  __device__ void expect() const { arrive_and_expect(&full[stage], kStageBytes); }
  // Waits for a free stage, whose bytes will be counted at loads().
  __device__ char* acquire() const {
    wait_until_empty();
    expect();
    return tile();
  }

  // --- Consumers
  __device__ void wait_until_full() const { wait_for(&full[stage], parity); }
  // A warpgroup releases a stage to the producers of all blocks of the cluster. thread: its number,
  // which the caller holds in a register.
  __device__ void release(int which, int thread) const {
    if (kCluster > 1 ? thread % 128 < kCluster : thread % 128 == 0)
      arrive_at(&empty[which], kCluster > 1 ? static_cast<unsigned>(thread % 128) : 0);
  }
  __device__ void release_last(int thread) const {
    release(stage == 0 ? kStages - 1 : stage - 1, thread);
  }
  // A warp releases a stage of this block.
  __device__ void release_of_warp(int which) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(&empty[which]);
  }
};

// One thread sets up the barriers of rings, whose stages so many consumers release. The others of
// the block, or of the cluster, wait.
template <int kCluster, class... Rings>
__device__ void init_rings(int consumers, const Rings&... rings) {
  if (threadIdx.x == 0) {
    (rings.init(consumers), ...);
    publish_barriers();
  }
  kCluster > 1 ? sync_cluster() : __syncthreads();
}

// sums = the products of steps `begin` to `end` - 1, of 64 rows and N columns, while those of one
// step are on their way. The operands lie at_a and at_b bytes behind the beginning of a stage.
template <class T, int N, bool kAlongA, bool kAlongB, class Ring>
__device__ void multiply_steps(float (&sums)[N / 2], Ring& ring, int at_a, int at_b, int begin,
                               int end, int thread) {
  for (int step = begin; step < end; ++step) {
    ring.wait_until_full();
    const uint64_t a = describe(ring.tile() + at_a), b = describe(ring.tile() + at_b);
    begin_products();
#pragma unroll
    for (int i = 0; i < 4; ++i)  // 32 bytes of each line further, or 16 lines
      multiply<T, N, kAlongA, kAlongB>(sums, a + i * (kAlongA ? 128 : 2),
                                       b + i * (kAlongB ? 128 : 2), step > begin || i > 0);
    end_products();
    wait_for_products<1>();
    if (step > begin) ring.release_last(thread);
    ring.advance();
  }
  wait_for_products<0>();
  if (begin < end) ring.release_last(thread);
}

}  // namespace gradus::cuda::hopper
