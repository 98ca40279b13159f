// The library's kernels for Hopper with one mistake at a time: the functions that they call stand
// for others, which leave something out or change it. Include it between wgmma.cuh and the kernels.
#pragma once

#include "gradus/cuda/kernels/hopper/wgmma.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda::hopper {

enum class Mutation {
  none,
  no_barriers,         // mbarriers are not initialised
  fewer_arrivals,      // they are initialised for one arrival less than come
  no_wait,             // nobody waits for a phase
  turned_parity,       // all wait for the other parity
  more_bytes,          // 16 bytes more are expected than come
  fewer_bytes,         // 16 bytes less
  no_expected_bytes,   // a thread arrives without a count
  no_release,          // stages are not released
  early_release,       // stages are released while products still read them
  no_product_fence,    // wgmma.fence
  no_product_wait,     // wgmma.wait_group
  no_proxy_fence,      // fence.proxy.async
  no_store_wait,       // cp.async.bulk.wait_group
  other_swizzle,       // in the descriptors of operands
  far_descriptor,      // a descriptor points 64 KiB further
  own_blocks_alone,    // multicast goes to the own block
  no_remote_arrival,   // only the own block's barriers are arrived at
  no_cluster_barrier,  // at the end
  many_registers,      // warpgroups that multiply take 8 registers too many
  odd_registers,       // a count that is no multiple of 8
};
inline Mutation mutation = Mutation::none;

__device__ inline bool mutates(Mutation which) { return mutation == which; }

__device__ __forceinline__ void mutated_init_barrier(uint64_t* barrier, int arrivals) {
  if (mutates(Mutation::no_barriers)) return;
  init_barrier(barrier, arrivals - (mutates(Mutation::fewer_arrivals) && arrivals > 1));
}
__device__ __forceinline__ void mutated_wait_for(const uint64_t* barrier, int parity) {
  if (!mutates(Mutation::no_wait))
    wait_for(barrier, mutates(Mutation::turned_parity) ? parity ^ 1 : parity);
}
__device__ __forceinline__ void mutated_arrive_and_expect(uint64_t* barrier, int bytes) {
  const int more = mutates(Mutation::more_bytes) ? 16 : mutates(Mutation::fewer_bytes) ? -16 : 0;
  arrive_and_expect(barrier, mutates(Mutation::no_expected_bytes) ? 0 : bytes + more);
}
__device__ __forceinline__ void mutated_arrive(uint64_t* barrier) {
  if (!mutates(Mutation::no_release)) arrive(barrier);
}
__device__ __forceinline__ void mutated_arrive_at(const uint64_t* barrier, unsigned block) {
  if (mutates(Mutation::no_release)) return;
  if (mutates(Mutation::no_remote_arrival) && block != block_in_cluster()) return;
  arrive_at(barrier, block);
}
__device__ __forceinline__ void mutated_begin_products() {
  if (!mutates(Mutation::no_product_fence)) begin_products();
}
template <int kPending>
__device__ __forceinline__ void mutated_wait_for_products() {
  if (mutates(Mutation::early_release)) return wait_for_products<kPending + 1>();
  if (!mutates(Mutation::no_product_wait)) wait_for_products<kPending>();
}
__device__ __forceinline__ void mutated_publish_to_copies() {
  if (!mutates(Mutation::no_proxy_fence)) publish_to_copies();
}
template <int kPending = 0>
__device__ __forceinline__ void mutated_wait_for_stores() {
  if (!mutates(Mutation::no_store_wait)) wait_for_stores<kPending>();
}
__device__ __forceinline__ uint64_t mutated_describe(const void* at, int apart = kBoxBytes) {
  const uint64_t out = describe(at, apart);
  if (mutates(Mutation::other_swizzle)) return out ^ uint64_t { 3 } << 62;  // of 64 bytes
  return mutates(Mutation::far_descriptor) ? out + (3 << 12) : out;
}
__device__ __forceinline__ void mutated_copy_box_to_all(void* to, const CUtensorMap& from,
                                                        uint64_t* barrier, int x, int y, int z,
                                                        uint16_t blocks) {
  if (mutates(Mutation::own_blocks_alone)) return copy_box(to, from, barrier, x, y, z);
  copy_box_to_all(to, from, barrier, x, y, z, blocks);
}
// Kernels meet at their start and at their end.
__device__ __forceinline__ void mutated_sync_cluster() {
  if (!mutates(Mutation::no_cluster_barrier)) sync_cluster();
}
template <int kCount>
__device__ __forceinline__ void mutated_take_registers() {
  if (mutates(Mutation::odd_registers)) return take_registers<kCount + 1>();
  if (mutates(Mutation::many_registers)) return take_registers<kCount + 16>();
  take_registers<kCount>();
}

}  // namespace gradus::cuda::hopper

#define init_barrier mutated_init_barrier
#define wait_for mutated_wait_for
#define arrive_and_expect mutated_arrive_and_expect
#define arrive mutated_arrive
#define arrive_at mutated_arrive_at
#define begin_products mutated_begin_products
#define wait_for_products mutated_wait_for_products
#define publish_to_copies mutated_publish_to_copies
#define wait_for_stores mutated_wait_for_stores
#define describe mutated_describe
#define copy_box_to_all mutated_copy_box_to_all
#define sync_cluster mutated_sync_cluster
#define take_registers mutated_take_registers
