// Blocks of clusters that reach each other's shared memory, and registers of warpgroups, with one
// mistake each. Only simulated devices run them: some never end on a GPU.
#include "gradus/cuda/kernels/hopper/wgmma.cuh"
#include "gradus/cuda/runtime/tensor_maps.h"
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

using namespace cuda::hopper;
using cuda::sim::shared_of_block;

constexpr int kPair = 2;

__device__ const float* of_other_block(const float* at) {
  return static_cast<const float*>(shared_of_block(at, block_in_cluster() ^ 1));
}
// Two clusters of two blocks of 32 threads, each of which writes 32 floats.
void run_pairs(void (*kernel)(float*)) {
  const Buffer<float> out(128);
  launch(kernel, {4, 32}, out);
  cudaDeviceSynchronize();
}

__global__ void __cluster_dims__(kPair, 1, 1) ends_while_read(float* out) {
  __shared__ float mine[32];
  mine[threadIdx.x] = 1;
  sync_cluster();
  if (block_in_cluster() == 1)
    out[blockIdx.x * 32 + threadIdx.x] = of_other_block(mine)[threadIdx.x];  // BUG ends_while_read
  // sync_cluster() must stand here.
}
const Plant ends_while_read_bug("ends_while_read", "use_after_free",
                                [] { run_pairs(ends_while_read); });

__global__ void __cluster_dims__(kPair, 1, 1) meets_no_cluster(float* out) {
  __shared__ float mine[32];
  mine[threadIdx.x] = 1;  // BUG meets_no_cluster
  __syncthreads();        // sync_cluster() must stand here
  if (block_in_cluster() == 1)
    out[blockIdx.x * 32 + threadIdx.x] = of_other_block(mine)[threadIdx.x];  // BUG meets_no_cluster
  sync_cluster();
}
const Plant meets_no_cluster_bug("meets_no_cluster", "race", [] { run_pairs(meets_no_cluster); });

// The blocks write what the other one still reads.
__global__ void __cluster_dims__(kPair, 1, 1) changed_while_read(float* out) {
  __shared__ float mine[32];
  mine[threadIdx.x] = 1;
  sync_cluster();
  const float got = of_other_block(mine)[threadIdx.x];  // BUG changed_while_read
  mine[threadIdx.x] = 2;                                // BUG changed_while_read
  sync_cluster();
  out[blockIdx.x * 32 + threadIdx.x] = got;
}
const Plant changed_while_read_bug("changed_while_read", "race",
                                   [] { run_pairs(changed_while_read); });

__global__ void __cluster_dims__(kPair, 1, 1) some_meet_the_cluster(float* out) {
  if (threadIdx.x < 16) {
    sync_cluster();  // BUG some_meet_the_cluster
  } else {
    __syncthreads();
  }
  out[blockIdx.x * 32 + threadIdx.x] = 1;
}
const Plant some_meet_the_cluster_bug("some_meet_the_cluster", "barrier",
                                      [] { run_pairs(some_meet_the_cluster); });

__global__ void __cluster_dims__(kPair, 1, 1) beyond_the_cluster(float* out) {
  __shared__ float mine[32];
  mine[threadIdx.x] = 1;
  sync_cluster();
  const auto* const other =
      static_cast<const float*>(shared_of_block(mine, kPair));  // BUG beyond_the_cluster
  out[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];
  sync_cluster();
}
const Plant beyond_the_cluster_bug("beyond_the_cluster", "out_of_bounds",
                                   [] { run_pairs(beyond_the_cluster); });

// --- Boxes for both blocks of a cluster
struct ForAll {
  static constexpr bool kExpects = true, kWaits = true, kMeets = true;
};
template <class Bug>
__device__ void copy_to_both(const CUtensorMap& from, float* out) {
  alignas(1024) __shared__ float box[8 * 32];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init_barrier(&barrier, 1);
  sync_cluster();
  if (threadIdx.x == 0) {
    arrive_and_expect(&barrier, Bug::kExpects || block_in_cluster() == 0 ? sizeof box : 0);
    if (block_in_cluster() == 0)
      copy_box_to_all(box, from, &barrier, 0, 0, 0, 0b11);  // BUG copies_to_both
  }
  if (Bug::kWaits) wait_for(&barrier, 0);
  __syncthreads();
  for (int i = threadIdx.x; i < 8 * 32; i += 32)
    out[blockIdx.x * 256 + i] = box[i];  // BUG reads_both
  sync_cluster();
}
template <class Kernel>
void run_boxes(Kernel kernel) {
  const Buffer<float> x(8 * 32, 1.f), out(2 * 8 * 32);
  const CUtensorMap map = cuda::map_of(cuda::Boxes{static_cast<float*>(x),
                                                   CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                                   4,
                                                   {32, 8, 1},
                                                   {32, 256},
                                                   {32, 8, 1}},
                                       "test", "nothing");
  launch(kernel, {2, 32}, map, out);
  cudaDeviceSynchronize();
}

// Its phase ends at the arrival, before the bytes come.
// AT one_block_expects_nothing: copies_to_both reads_both
struct OneBlockExpectsNothing : ForAll {
  static constexpr bool kExpects = false;
};
__global__ void __cluster_dims__(kPair, 1, 1)
    one_block_expects_nothing(const __grid_constant__ CUtensorMap from, float* out) {
  copy_to_both<OneBlockExpectsNothing>(from, out);
}
const Plant one_block_expects_nothing_bug("one_block_expects_nothing", "under_way",
                                          [] { run_boxes(one_block_expects_nothing); });

// AT multicast_without_wait: copies_to_both reads_both
struct MulticastWithoutWait : ForAll {
  static constexpr bool kWaits = false;
};
__global__ void __cluster_dims__(kPair, 1, 1)
    multicast_without_wait(const __grid_constant__ CUtensorMap from, float* out) {
  copy_to_both<MulticastWithoutWait>(from, out);
}
const Plant multicast_without_wait_bug("multicast_without_wait", "under_way",
                                       [] { run_boxes(multicast_without_wait); });

// --- Registers of warpgroups
__global__ void __launch_bounds__(384) takes_too_many(float* out) {
  if (threadIdx.x >= 256) {
    give_registers<40>();
  } else {
    take_registers<240>();  // BUG takes_too_many
  }
  out[threadIdx.x] = 1;
}
const Plant takes_too_many_bug("takes_too_many", "stuck", [] {
  const Buffer<float> out(384);
  launch(takes_too_many, {1, 384}, out);
  cudaDeviceSynchronize();
});

__global__ void __launch_bounds__(256) some_give_registers(float* out) {
  if (threadIdx.x < 32) give_registers<40>();  // BUG some_give_registers
  out[threadIdx.x] = 1;
}
const Plant some_give_registers_bug("some_give_registers", "warp", [] {
  const Buffer<float> out(256);
  launch(some_give_registers, {1, 256}, out);
  cudaDeviceSynchronize();
});

// --- A box of one swizzle, and a descriptor of another one
template <int kSwizzle>
__device__ void multiply_swizzled(const CUtensorMap& from, float* out) {
  extern __shared__ __align__(1024) char boxes[];
  auto* const barrier = reinterpret_cast<uint64_t*>(boxes + 2 * kBoxBytes);
  if (threadIdx.x == 0) init_barrier(barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_and_expect(barrier, kBoxBytes);
    copy_box(boxes, from, barrier, 0, 0, 0);  // BUG other_swizzle
  }
  wait_for(barrier, 0);
  const uint64_t a = (describe(boxes) & ~(uint64_t{3} << 62)) | uint64_t{kSwizzle} << 62;
  float sums[32];
  begin_products();
  multiply<BFloat16, 64, false, false>(sums, a, a, false);  // BUG other_swizzle
  end_products();
  wait_for_products<0>();
  for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = sums[i];
}
__global__ void other_swizzle(const __grid_constant__ CUtensorMap from, float* out) {
  multiply_swizzled<2>(from, out);
}
const Plant other_swizzle_bug("other_swizzle", "layout", [] {
  const Buffer<uint16_t> x(64 * 64, uint16_t{0});
  const Buffer<float> out(128 * 32);
  const CUtensorMap map = cuda::map_of(cuda::Boxes{static_cast<uint16_t*>(x),
                                                   CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                                   2,
                                                   {64, 64, 1},
                                                   {64, 64 * 64},
                                                   {64, 64, 1}},
                                       "test", "nothing");
  launch(other_swizzle, {1, 128, 3 * kBoxBytes}, map, out);
  cudaDeviceSynchronize();
});

// --- The same as they should be
__global__ void __cluster_dims__(4, 1, 1) sums_of_clusters(float* out) {
  __shared__ float mine[32];
  mine[threadIdx.x] = static_cast<float>(blockIdx.x);
  sync_cluster();
  float sum = 0;
  for (unsigned rank = 0; rank < 4; ++rank)
    sum += static_cast<const float*>(shared_of_block(mine, rank))[31 - threadIdx.x];
  out[blockIdx.x * 32 + threadIdx.x] = sum;
  sync_cluster();
}
const Plant sums_of_clusters_right("sums_of_clusters", "", [] {
  const Buffer<float> out(8 * 32);
  launch(sums_of_clusters, {8, 32}, out);
  std::vector<float> found(8 * 32);
  cudaMemcpy(found.data(), out, sizeof(float) * found.size(), cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i] != (i < 128 ? 6 : 22)) cuda::check_cuda(cudaErrorInvalidValue, "test");
});

// Blocks send each other numbers, and wait for those that they get (st.async).
__global__ void __cluster_dims__(kPair, 1, 1) sends(float* out) {
  __shared__ uint32_t got[32];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init_barrier(&barrier, 1);
  sync_cluster();
  if (threadIdx.x == 0) arrive_and_expect(&barrier, sizeof got);
  const unsigned other = block_in_cluster() ^ 1;
  cuda::sim::store_later(static_cast<uint32_t*>(shared_of_block(&got[threadIdx.x], other)),
                         blockIdx.x, static_cast<uint64_t*>(shared_of_block(&barrier, other)));
  wait_for(&barrier, 0);
  out[blockIdx.x * 32 + threadIdx.x] = static_cast<float>(got[31 - threadIdx.x]);
  sync_cluster();
}
const Plant sends_right("sends", "", [] { run_pairs(sends); });

}  // namespace
}  // namespace gradus::planted
