// The twins of Hopper's instructions: barriers in shared memory that count bytes (mbarrier), copies
// of boxes by the tensor memory accelerator, and products of warpgroups (wgmma). The names are
// those of cuda/kernels/hopper/wgmma.cuh, which says what each does.
#pragma once

#include <cuda.h>

#include <cstdint>

#include <sim/block.h>
#include <sim/warp.h>

// nvcc defines it for compute capability 9.0a.
#define __CUDA_ARCH_FEAT_SM90_ALL 1
// How many blocks a cluster has, all of them along x. The compiler puts so many instructions that
// do nothing before the function's first one, which tell it (exec/cluster.cpp).
#define __cluster_dims__(...) \
  __attribute__((patchable_function_entry(gradus::cuda::sim::cluster_size(__VA_ARGS__), 0)))

namespace gradus::cuda::sim {

constexpr int cluster_size(int x, int y = 1, int z = 1) {
  return y == 1 && z == 1 ? x : throw "the simulator has clusters along x alone";
}
unsigned rank_in_cluster();
void arrive_at_cluster();
void wait_for_cluster();
// Where another block of the cluster has what lies at this address of shared memory here (mapa).
void* shared_of_block(const void* at, unsigned rank);
void ask_for_registers(int count, bool more);

void init_mbarrier(uint64_t* barrier, int arrivals);
void arrive_at_mbarrier(const uint64_t* barrier, int bytes);
void arrive_at_block(const uint64_t* barrier, unsigned rank);
void wait_for_phase(const uint64_t* barrier, int parity);
void sync_some(int barrier, int threads);
void fence_async_proxy();

constexpr int kMostDims = 5;
struct Place {
  int at[kMostDims];
};
// `blocks`: a bit for each block of the cluster that gets the box; 0: this one.
void load_box(void* to, const CUtensorMap& from, uint64_t* barrier, const Place& at, int dims,
              unsigned blocks = 0);
// Pixels of a map by cuTensorMapEncodeIm2col, from `at` on, each moved by `right` and `down`.
void load_pixels(void* to, const CUtensorMap& from, uint64_t* barrier, const Place& at, int right,
                 int down);
// Writes to shared memory of a block of the cluster; its barrier, in the same block, counts the
// bytes (st.async).
void store_later(uint32_t* to, uint32_t value, uint64_t* barrier);
// adds: to what the tensor has. pixels: of a map by cuTensorMapEncodeIm2col.
void store_box(const CUtensorMap& to, const void* from, const Place& at, int dims,
               bool adds = false, bool pixels = false);
void end_box_group();
void wait_for_boxes(unsigned pending);

// An operand in shared memory by its descriptor, or 16 rows of a warp in registers.
struct Product {
  float* sums;
  uint64_t a, b;
  const uint32_t* held;  // null: a is a descriptor
  int columns;
  char type;  // 'b'float16, 'h'alf or 'f'loat
  bool along_a, along_b, adds;
};
void multiply(const Product& product);
void fence_products();
void end_product_group();
void wait_for_product_groups(unsigned pending);

}  // namespace gradus::cuda::sim

namespace gradus::cuda::sim::hopper {

__forceinline__ uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at));
}

__forceinline__ void init_barrier(uint64_t* barrier, int arrivals) {
  init_mbarrier(barrier, arrivals);
}
__forceinline__ void publish_barriers() {}
__forceinline__ void arrive_and_expect(uint64_t* barrier, int bytes) {
  arrive_at_mbarrier(barrier, bytes);
}
__forceinline__ void arrive(uint64_t* barrier) { arrive_at_mbarrier(barrier, 0); }
__forceinline__ void arrive_at(const uint64_t* barrier, unsigned block) {
  arrive_at_block(barrier, block);
}
__forceinline__ void wait_for(const uint64_t* barrier, int parity) {
  wait_for_phase(barrier, parity);
}
__forceinline__ unsigned block_in_cluster() { return rank_in_cluster(); }
__forceinline__ void sync_cluster() {
  arrive_at_cluster();
  wait_for_cluster();
}
template <int kThreads>
__forceinline__ void sync_threads(int barrier) {
  sync_some(barrier, kThreads);
}
template <int kCount>
__forceinline__ void give_registers() {
  ask_for_registers(kCount, false);
}
template <int kCount>
__forceinline__ void take_registers() {
  ask_for_registers(kCount, true);
}

__forceinline__ void prefetch_map(const CUtensorMap*) {}
__forceinline__ void copy_box(void* to, const CUtensorMap& from, uint64_t* barrier, int x, int y,
                              int z) {
  load_box(to, from, barrier, {{x, y, z}}, 3);
}
__forceinline__ void copy_box(void* to, const CUtensorMap& from, uint64_t* barrier, int x, int y,
                              int z, int w) {
  load_box(to, from, barrier, {{x, y, z, w}}, 4);
}
__forceinline__ void copy_box_to_all(void* to, const CUtensorMap& from, uint64_t* barrier, int x,
                                     int y, int z, uint16_t blocks) {
  load_box(to, from, barrier, {{x, y, z}}, 3, blocks);
}
__forceinline__ void copy_pixels(void* to, const CUtensorMap& from, uint64_t* barrier, int c, int w,
                                 int h, int n, int right, int down) {
  load_pixels(to, from, barrier, {{c, w, h, n}}, right, down);
}
__forceinline__ void store_box(const CUtensorMap& to, const void* from, int x, int y, int z) {
  sim::store_box(to, from, {{x, y, z}}, 3);
}
__forceinline__ void add_box(const CUtensorMap& to, const void* from, int x, int y, int z) {
  sim::store_box(to, from, {{x, y, z}}, 3, true);
}
__forceinline__ void store_pixels(const CUtensorMap& to, const void* from, int c, int w, int h,
                                  int n) {
  sim::store_box(to, from, {{c, w, h, n}}, 4, false, true);
}
__forceinline__ void add_pixels(const CUtensorMap& to, const void* from, int c, int w, int h,
                                int n) {
  sim::store_box(to, from, {{c, w, h, n}}, 4, true, true);
}
__forceinline__ void end_stores() { end_box_group(); }
template <int kPending = 0>
__forceinline__ void wait_for_stores() {
  wait_for_boxes(kPending);
}
__forceinline__ void publish_to_copies() { fence_async_proxy(); }
// Lane 8 i + r names row r of matrix i, and holds two elements of row lane / 4 of each.
__forceinline__ void store_matrices(void* line, uint32_t first, uint32_t second, uint32_t third,
                                    uint32_t fourth) {
  const uint32_t held[4] = {first, second, third, fourth};
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int i = 0; i < 4; ++i) {
    char* const row = __shfl_sync(0xffffffffu, static_cast<char*>(line), 8 * i + lane / 4);
    reinterpret_cast<uint32_t*>(row)[lane % 4] = held[i];
  }
}

__forceinline__ void begin_products() { fence_products(); }
__forceinline__ void end_products() { end_product_group(); }
template <int kPending>
__forceinline__ void wait_for_products() {
  wait_for_product_groups(kPending);
}

}  // namespace gradus::cuda::sim::hopper
