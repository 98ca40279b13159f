// Small kernels of the shape of mistakes that published kernels had: in copies, stores and products
// that are under way while threads go on. A comment names the repository and its report.
//
// Only simulated devices run them.
#include "gradus/cuda/kernels/hopper/wgmma.cuh"
#include "gradus/cuda/runtime/tensor_maps.h"
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

using namespace cuda::hopper;
using cuda::copy_later, cuda::end_copy_group, cuda::wait_for_copies;

// A matrix of bfloat16 with lines of 64, in boxes of some lines.
CUtensorMap map_of_lines(const BFloat16* data, int lines, int box) {
  return cuda::map_of(cuda::Boxes{data,
                                  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                  2,
                                  {64, lines, 1},
                                  {64, int64_t{64} * lines},
                                  {64, box, 1}},
                      "planted", "nothing");
}

// --- Stores of tiles that threads fill, from two places in shared memory by turns
struct RightStores {
  static constexpr int kPending = 1;  // stores that may be under way when a place is filled again
  static constexpr bool kAllWait = false, kMeets = true, kPublishes = true, kWaits = true;
};

template <class Bug>
__device__ void store_tiles(const CUtensorMap& out, int tiles) {
  extern __shared__ __align__(1024) char places[];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = 0; i < tiles; ++i) {
    char* const tile = places + i % 2 * 1024;
    if (Bug::kWaits && (thread == 0 || Bug::kAllWait)) cuda::sim::wait_for_boxes(Bug::kPending);
    if (Bug::kMeets) __syncthreads();
    reinterpret_cast<uint64_t*>(tile)[thread] = static_cast<uint64_t>(i);  // BUG fills
    if (Bug::kPublishes) publish_to_copies();
    __syncthreads();
    if (thread == 0) {
      store_box(out, tile, 0, 8 * i, 0);  // BUG stores_tile
      end_stores();
    }
  }
  if (thread == 0) wait_for_stores();
}
template <class Bug>
__global__ void tiles_stored(const __grid_constant__ CUtensorMap out, int tiles) {
  store_tiles<Bug>(out, tiles);
}
template <class Bug>
void run_stores() {
  constexpr int kTiles = 5;
  const Buffer<BFloat16> out(64 * 8 * kTiles, BFloat16(0.f));
  launch(tiles_stored<Bug>, {1, 128, 2048}, map_of_lines(out, 8 * kTiles, 8), kTiles);
  cudaDeviceSynchronize();
}

#define GRADUS_PLANT(name, base, run, kind, ...) \
  struct name : base {                           \
    __VA_ARGS__                                  \
  };                                             \
  const Plant name##_bug(#name, kind, [] { run<name>(); })

GRADUS_PLANT(stores_by_turns, RightStores, run_stores, "", );  // correct
// deepseek-ai/DeepEP, pull request 660: one store too many may be pending.
// AT one_store_too_many: fills stores_tile
GRADUS_PLANT(one_store_too_many, RightStores, run_stores, "under_way",
             static constexpr int kPending = 2;);
// NVIDIA/TransformerEngine, pull request 3417: all wait, but a thread waits for its own stores
// alone, and nothing tells the others that thread 0 has waited.
// AT each_waits_for_itself: fills stores_tile
GRADUS_PLANT(each_waits_for_itself, RightStores, run_stores, "race",
             static constexpr bool kAllWait = true, kMeets = false;);
// NVIDIA/Fuser, pull request 5448: the loop had no wait.
// AT no_wait_in_the_loop: fills stores_tile
GRADUS_PLANT(no_wait_in_the_loop, RightStores, run_stores, "under_way",
             static constexpr bool kWaits = false;);
// MoonshotAI/FlashKDA, issue 24, and NVIDIA/Fuser, pull request 1967: a barrier stood where the
// fence belongs.
// AT a_barrier_for_a_fence: fills stores_tile
GRADUS_PLANT(a_barrier_for_a_fence, RightStores, run_stores, "race",
             static constexpr bool kPublishes = false;);

// --- A product over tiles in a ring of stages, by one warpgroup, whose end an mbarrier tells that
// has one phase a step
constexpr int kRing = 3;
struct RightRing {
  static constexpr bool kCountsSteps = true;
};

template <class Bug>
__device__ void multiply_ring(const CUtensorMap& from, int steps, float* out) {
  extern __shared__ __align__(1024) char stages[];
  auto* const full = reinterpret_cast<uint64_t*>(stages + kRing * kBoxBytes);
  uint64_t* const done = full + kRing;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int i = 0; i < kRing; ++i) init_barrier(&full[i], 1);
    init_barrier(done, 1);
  }
  __syncthreads();
  if (thread == 128)
    for (int step = 0; step < steps; ++step) {
      const int stage = step % kRing, last = step - kRing;  // that read this stage
      char* const to = stages + stage * kBoxBytes;
      const int parity = Bug::kCountsSteps ? last % 2 : last / kRing % 2 ^ 1;
      if (last >= 0) wait_for(done, parity);
      arrive_and_expect(&full[stage], kBoxBytes);         // BUG expects_tile
      copy_box(to, from, &full[stage], 0, 64 * step, 0);  // BUG copies_tile
    }
  if (thread >= 128) return;
  float sums[32];
  for (int step = 0; step < steps; ++step) {
    wait_for(&full[step % kRing], step / kRing % 2);  // BUG waits_for_tile
    const uint64_t tile = describe(stages + step % kRing * kBoxBytes);
    begin_products();
    multiply<BFloat16, 64, false, false>(sums, tile, tile, step > 0);  // BUG multiplies_tile
    end_products();
    wait_for_products<0>();
    if (thread == 0) arrive(done);
  }
  out[thread] = sums[0];
}
template <class Bug>
__global__ void ring_multiplied(const __grid_constant__ CUtensorMap from, int steps, float* out) {
  multiply_ring<Bug>(from, steps, out);
}
template <class Bug>
void run_ring() {
  constexpr int kSteps = 9;
  const Buffer<BFloat16> x(64 * 64 * kSteps, BFloat16(1.f));
  const Buffer<float> out(128);
  launch(ring_multiplied<Bug>, {1, 160, kRing * kBoxBytes + 64}, map_of_lines(x, 64 * kSteps, 64),
         kSteps, out);
  cudaDeviceSynchronize();
}
GRADUS_PLANT(ring_with_one_phase_a_step, RightRing, run_ring, "", );  // correct
// tile-ai/tilelang, pull request 3087: the parity is that of a ring, and its phase has long ended.
// AT parity_of_the_ring: copies_tile multiplies_tile expects_tile waits_for_tile
GRADUS_PLANT(parity_of_the_ring, RightRing, run_ring, "under_way",
             static constexpr bool kCountsSteps = false;);

// --- Two warpgroups that multiply one tile, which all threads fill
struct RightShared {
  static constexpr bool kMeets = true;
};
template <class Bug>
__device__ void multiply_shared(int steps, float* out) {
  extern __shared__ __align__(1024) char tile[];
  const int thread = static_cast<int>(threadIdx.x);
  const uint64_t all = describe(tile);
  float sums[32];
  for (int step = 0; step < steps; ++step) {
    for (int i = thread; i < kBoxBytes / 8; i += 256)
      reinterpret_cast<uint64_t*>(tile)[i] = 0;  // BUG fills_shared
    publish_to_copies();
    __syncthreads();
    begin_products();
    multiply<BFloat16, 64, false, false>(sums, all, all, step > 0);  // BUG multiplies_shared
    end_products();
    wait_for_products<0>();
    if (Bug::kMeets) __syncthreads();
  }
  out[thread] = sums[0];
}
template <class Bug>
__global__ void shared_multiplied(int steps, float* out) {
  multiply_shared<Bug>(steps, out);
}
template <class Bug>
void run_shared() {
  const Buffer<float> out(256);
  launch(shared_multiplied<Bug>, {1, 256, kBoxBytes}, 3, out);
  cudaDeviceSynchronize();
}
GRADUS_PLANT(a_tile_for_two_warpgroups, RightShared, run_shared, "", );  // correct
// tile-ai/tilelang, issue 2613: each warpgroup waits for its own products alone.
// AT each_group_waits_for_itself: fills_shared multiplies_shared
GRADUS_PLANT(each_group_waits_for_itself, RightShared, run_shared, "race",
             static constexpr bool kMeets = false;);

// --- A result that is stored from the place of a tile that comes next
struct RightPlace {
  static constexpr bool kWaits = true;
};
template <class Bug>
__device__ void load_behind_store(const CUtensorMap& from, const CUtensorMap& to, int tiles) {
  extern __shared__ __align__(1024) char place[];
  auto* const full = reinterpret_cast<uint64_t*>(place + 1024);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) init_barrier(full, 1);
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    if (thread == 0) {
      if (Bug::kWaits) wait_for_stores();
      arrive_and_expect(full, 1024);
      copy_box(place, from, full, 0, 8 * i, 0);  // BUG loads
    }
    wait_for(full, i % 2);
    reinterpret_cast<uint64_t*>(place)[thread] += 1;  // BUG adds_one
    publish_to_copies();
    __syncthreads();
    if (thread == 0) {
      store_box(to, place, 0, 8 * i, 0);  // BUG stores_result
      end_stores();
    }
  }
  if (thread == 0) wait_for_stores();
}
template <class Bug>
__global__ void loaded_behind_store(const __grid_constant__ CUtensorMap from,
                                    const __grid_constant__ CUtensorMap to, int tiles) {
  load_behind_store<Bug>(from, to, tiles);
}
template <class Bug>
void run_place() {
  constexpr int kTiles = 4;
  const Buffer<BFloat16> x(64 * 8 * kTiles, BFloat16(1.f)), out(64 * 8 * kTiles, BFloat16(0.f));
  launch(loaded_behind_store<Bug>, {1, 128, 1024 + 64}, map_of_lines(x, 8 * kTiles, 8),
         map_of_lines(out, 8 * kTiles, 8), kTiles);
  cudaDeviceSynchronize();
}
GRADUS_PLANT(one_place_for_both, RightPlace, run_place, "", );  // correct
// uccl-project/mKernel, pull request 18: the next tile came before the result had left.
// AT loaded_before_the_store_is_done: loads adds_one stores_result
GRADUS_PLANT(loaded_before_the_store_is_done, RightPlace, run_place, "under_way",
             static constexpr bool kWaits = false;);
#undef GRADUS_PLANT

// --- csarofeen/pytorch, pull request 2457: a loop ended its group after the wait, which therefore
// waited for one group less.
__global__ void committed_after_the_wait(const float* x, float* out, int tiles) {
  __shared__ float ring[3][128];
  const unsigned t = threadIdx.x;
  const auto copy = [&](int i) {
    if (i < tiles)
      copy_later<4>(&ring[i % 3][t], x + i * 128 + t, 4);  // BUG committed_after_the_wait
  };
  copy(0), end_copy_group();
  copy(1), end_copy_group();
  float sum = 0;
  wait_for_copies<1>();
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    copy(i + 2);
    sum += ring[i % 3][127 - t];  // BUG committed_after_the_wait
    wait_for_copies<1>();
    end_copy_group();
    __syncthreads();
  }
  out[t] = sum;
}
const Plant committed_after_the_wait_bug("committed_after_the_wait", "under_way", [] {
  const Buffer<float> x(128 * 6, 1.f), out(128);
  launch(committed_after_the_wait, {1, 128}, x, out, 6);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
