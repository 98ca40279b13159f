// Hopper's instructions for matrix products: products of a warpgroup by wgmma, copies of tiles by
// the tensor memory accelerator (TMA), and the barriers in shared memory that count their bytes.
// For compute capability 9.0a alone (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions",
// "Data Movement and Conversion: Tensor copy").
#pragma once

#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "gradus/cuda/kernels/tensor_core.cuh"

#ifdef GRADUS_SIMULATED
#include <sim/hopper.h>  // the twins of all that is written in PTX here
#endif

// nvcc 13 has no clusters for older chips, for which kernels of clusters are empty.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#undef __cluster_dims__
#define __cluster_dims__(...)
#endif

namespace gradus::cuda::hopper {

#ifdef GRADUS_SIMULATED
using namespace sim::hopper;

template <class T, int N>
__device__ __forceinline__ sim::Product product_of(float (&sums)[N], uint64_t b, bool adds) {
  sim::Product out = {};
  out.sums = sums, out.b = b, out.columns = 2 * N, out.adds = adds;
  out.type = std::is_same_v<T, BFloat16> ? 'b' : std::is_same_v<T, Half> ? 'h' : 'f';
  return out;
}
template <class T, int N, bool kAlongA, bool kAlongB>
__device__ __forceinline__ void multiply(float (&sums)[N / 2], uint64_t a, uint64_t b, bool adds) {
  sim::Product product = product_of<T>(sums, b, adds);
  product.a = a, product.along_a = kAlongA, product.along_b = kAlongB;
  sim::multiply(product);
}
template <class T, int N, bool kAlongB>
__device__ __forceinline__ void multiply_held(float (&sums)[N / 2], const uint32_t (&a)[4],
                                              uint64_t b, bool adds) {
  sim::Product product = product_of<T>(sums, b, adds);
  product.held = a, product.along_b = kAlongB;
  sim::multiply(product);
}
#else

__device__ inline uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

// --- Barriers. A phase ends when all have arrived and all bytes that are expected have come.
__device__ inline void init_barrier(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive_and_expect(uint64_t* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
__device__ inline void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
// Arrives at the barrier at the same place in another block of the cluster, or in this one. It
// does not publish this thread's writes: release.cluster would wait half a microsecond for them.
__device__ inline void arrive_at(const uint64_t* barrier, unsigned block) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(barrier)),
      "r"(block)
      : "memory");
}
// Waits for the end of the phases of this parity: 0 for the first one.
__device__ inline void wait_for(const uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
__device__ inline unsigned block_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// All threads of all blocks of the cluster meet.
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
// kThreads threads of the block meet, at one of 16 barriers.
template <int kThreads>
__device__ void sync_threads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}
template <int kCount>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

// --- Copies of boxes of a tensor of three dimensions, whose first coordinate is x
// Brings the tensor's description near, for which the first copy would wait.
__device__ inline void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
__device__ inline void copy_box(void* to, const CUtensorMap& from, uint64_t* barrier, int x, int y,
                                int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
      "l"(&from), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
// The same to each block of the mask. Each counts the bytes at its own barrier.
__device__ inline void copy_box_to_all(void* to, const CUtensorMap& from, uint64_t* barrier, int x,
                                       int y, int z, uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(to)),
      "l"(&from), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z), "h"(blocks)
      : "memory");
}
// The same of a tensor of four dimensions.
__device__ inline void copy_box(void* to, const CUtensorMap& from, uint64_t* barrier, int x, int y,
                                int z, int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(to)),
      "l"(&from), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}
// Copies channels from c on of some pixels of a tensor of four dimensions, one
// behind the other in the box that the tensor's map names, each moved by right and down. The first
// one is at (w, h) of sample n.
__device__ inline void copy_pixels(void* to, const CUtensorMap& from, uint64_t* barrier, int c,
                                   int w, int h, int n, int right, int down) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(shared_address(to)),
      "l"(&from), "r"(shared_address(barrier)), "r"(c), "r"(w), "r"(h), "r"(n),
      "h"(static_cast<uint16_t>(right)), "h"(static_cast<uint16_t>(down))
      : "memory");
}
__device__ inline void store_box(const CUtensorMap& to, const void* from, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&to),
      "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
// Adds the box to what the tensor has, element by element.
__device__ inline void add_box(const CUtensorMap& to, const void* from, int x, int y, int z) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3, %4}], "
      "[%1];" ::"l"(&to),
      "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
// The same of pixels, as copy_pixels counts them, without a move.
__device__ inline void store_pixels(const CUtensorMap& to, const void* from, int c, int w, int h,
                                    int n) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
      "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&to),
      "r"(shared_address(from)), "r"(c), "r"(w), "r"(h), "r"(n)
      : "memory");
}
__device__ inline void add_pixels(const CUtensorMap& to, const void* from, int c, int w, int h,
                                  int n) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group "
      "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&to),
      "r"(shared_address(from)), "r"(c), "r"(w), "r"(h), "r"(n)
      : "memory");
}
__device__ inline void end_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Stores four matrices of 8 x 8 elements of 16 bits, each held by the warp as mma's c is. Each lane
// names a line of 16 bytes: lanes 0 to 7 of the first matrix, and so on.
__device__ inline void store_matrices(void* line, uint32_t first, uint32_t second, uint32_t third,
                                      uint32_t fourth) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(line)),
               "r"(first), "r"(second), "r"(third), "r"(fourth)
               : "memory");
}
// Waits until this thread's stores have read shared memory, but for those of the last kPending
// groups.
template <int kPending = 0>
__device__ void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
// Copies may read what this thread has written to shared memory.
__device__ inline void publish_to_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// --- Products
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define GRADUS_SUMS_8(i)                                                                     \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), \
      "+f"(sums[i + 5]), "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define GRADUS_WGMMA_64(kind, turned)                                                          \
  asm volatile(                                                                                \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"                                             \
      "wgmma.mma_async.sync.aligned.m64n64" kind                                               \
      " {"                                                                                     \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                 \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, " \
      "%33, p, 1, 1" turned ";\n}"                                                             \
      : GRADUS_SUMS_8(0), GRADUS_SUMS_8(8), GRADUS_SUMS_8(16), GRADUS_SUMS_8(24)               \
      : "l"(a), "l"(b), "r"(int{adds}), "n"(int{kAlongA}), "n"(int{kAlongB}))
#define GRADUS_WGMMA_128(kind, turned)                                                         \
  asm volatile(                                                                                \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"                                             \
      "wgmma.mma_async.sync.aligned.m64n128" kind                                              \
      " {"                                                                                     \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                 \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "       \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "       \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, " \
      "%65, p, 1, 1" turned ";\n}"                                                             \
      : GRADUS_SUMS_8(0), GRADUS_SUMS_8(8), GRADUS_SUMS_8(16), GRADUS_SUMS_8(24),              \
        GRADUS_SUMS_8(32), GRADUS_SUMS_8(40), GRADUS_SUMS_8(48), GRADUS_SUMS_8(56)             \
      : "l"(a), "l"(b), "r"(int{adds}), "n"(int{kAlongA}), "n"(int{kAlongB}))
#define GRADUS_WGMMA_192(kind, turned)                                                         \
  asm volatile(                                                                                \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"                                             \
      "wgmma.mma_async.sync.aligned.m64n192" kind                                              \
      " {"                                                                                     \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                 \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "       \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "       \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "       \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "       \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, %96, " \
      "%97, p, 1, 1" turned ";\n}"                                                             \
      : GRADUS_SUMS_8(0), GRADUS_SUMS_8(8), GRADUS_SUMS_8(16), GRADUS_SUMS_8(24),              \
        GRADUS_SUMS_8(32), GRADUS_SUMS_8(40), GRADUS_SUMS_8(48), GRADUS_SUMS_8(56),            \
        GRADUS_SUMS_8(64), GRADUS_SUMS_8(72), GRADUS_SUMS_8(80), GRADUS_SUMS_8(88)             \
      : "l"(a), "l"(b), "r"(int{adds}), "n"(int{kAlongA}), "n"(int{kAlongB}))
#define GRADUS_WGMMA_256(kind, turned)                                                             \
  asm volatile(                                                                                    \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                                                \
      "wgmma.mma_async.sync.aligned.m64n256" kind                                                  \
      " {"                                                                                         \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                     \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "           \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "           \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "           \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "           \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "           \
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
      "%111, "                                                                                     \
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
      "%127}, %128, %129, p, 1, 1" turned ";\n}"                                                   \
      : GRADUS_SUMS_8(0), GRADUS_SUMS_8(8), GRADUS_SUMS_8(16), GRADUS_SUMS_8(24),                  \
        GRADUS_SUMS_8(32), GRADUS_SUMS_8(40), GRADUS_SUMS_8(48), GRADUS_SUMS_8(56),                \
        GRADUS_SUMS_8(64), GRADUS_SUMS_8(72), GRADUS_SUMS_8(80), GRADUS_SUMS_8(88),                \
        GRADUS_SUMS_8(96), GRADUS_SUMS_8(104), GRADUS_SUMS_8(112), GRADUS_SUMS_8(120)              \
      : "l"(a), "l"(b), "r"(int{adds}), "n"(int{kAlongA}), "n"(int{kAlongB}))

#define GRADUS_WGMMA_HELD_64(kind, turned)                                                      \
  asm volatile(                                                                                 \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"                                              \
      "wgmma.mma_async.sync.aligned.m64n64" kind                                                \
      " {"                                                                                      \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                  \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, " \
      "%33, %34, %35}, %36, p, 1, 1" turned ";\n}"                                              \
      : GRADUS_SUMS_8(0), GRADUS_SUMS_8(8), GRADUS_SUMS_8(16), GRADUS_SUMS_8(24)                \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int{adds}), "n"(int{kAlongB}))
#define GRADUS_WGMMA_HELD_128(kind, turned)                                                     \
  asm volatile(                                                                                 \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"                                              \
      "wgmma.mma_async.sync.aligned.m64n128" kind                                               \
      " {"                                                                                      \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                  \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "        \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "        \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, " \
      "%65, %66, %67}, %68, p, 1, 1" turned ";\n}"                                              \
      : GRADUS_SUMS_8(0), GRADUS_SUMS_8(8), GRADUS_SUMS_8(16), GRADUS_SUMS_8(24),               \
        GRADUS_SUMS_8(32), GRADUS_SUMS_8(40), GRADUS_SUMS_8(48), GRADUS_SUMS_8(56)              \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int{adds}), "n"(int{kAlongB}))

// sums (64 x N) = a (64 x 16) b (16 x N), added to what they were where `adds`. kAlongA: the lines
// of a's boxes hold elements of one term; else of one row. kAlongB likewise. Of floats, rounded
// towards 0 to TF32, there are 8 terms, and lines hold those of one row or column.
// The elements of a lane: of mma's c (tensor_core.cuh), for each warp 16 rows and 8 columns a time.
template <class T, int N, bool kAlongA, bool kAlongB>
__device__ void multiply(float (&sums)[N / 2], uint64_t a, uint64_t b, bool adds) {
  constexpr bool kBrain = std::is_same_v<T, BFloat16>, kHalves = std::is_same_v<T, Half>;
  constexpr bool kFloats = std::is_same_v<T, float>;
  static_assert(N == 64 || N == 128 || N == 192 || N == 256);
  static_assert(kBrain || kHalves || (kFloats && !kAlongA && !kAlongB));
  if constexpr (N == 64 && kBrain) GRADUS_WGMMA_64("k16.f32.bf16.bf16", ", %35, %36");
  if constexpr (N == 64 && kHalves) GRADUS_WGMMA_64("k16.f32.f16.f16", ", %35, %36");
  if constexpr (N == 64 && kFloats) GRADUS_WGMMA_64("k8.f32.tf32.tf32", "");
  if constexpr (N == 128 && kBrain) GRADUS_WGMMA_128("k16.f32.bf16.bf16", ", %67, %68");
  if constexpr (N == 128 && kHalves) GRADUS_WGMMA_128("k16.f32.f16.f16", ", %67, %68");
  if constexpr (N == 128 && kFloats) GRADUS_WGMMA_128("k8.f32.tf32.tf32", "");
  if constexpr (N == 192 && kBrain) GRADUS_WGMMA_192("k16.f32.bf16.bf16", ", %99, %100");
  if constexpr (N == 192 && kHalves) GRADUS_WGMMA_192("k16.f32.f16.f16", ", %99, %100");
  if constexpr (N == 192 && kFloats) GRADUS_WGMMA_192("k8.f32.tf32.tf32", "");
  if constexpr (N == 256 && kBrain) GRADUS_WGMMA_256("k16.f32.bf16.bf16", ", %131, %132");
  if constexpr (N == 256 && kHalves) GRADUS_WGMMA_256("k16.f32.f16.f16", ", %131, %132");
  if constexpr (N == 256 && kFloats) GRADUS_WGMMA_256("k8.f32.tf32.tf32", "");
}

// The same where each warp holds 16 rows of a, as mma's a (tensor_core.cuh).
template <class T, int N, bool kAlongB>
__device__ void multiply_held(float (&sums)[N / 2], const uint32_t (&a)[4], uint64_t b, bool adds) {
  constexpr bool kBrain = std::is_same_v<T, BFloat16>, kHalves = std::is_same_v<T, Half>;
  constexpr bool kFloats = std::is_same_v<T, float>;
  static_assert(N == 64 || N == 128);
  static_assert(kBrain || kHalves || (kFloats && !kAlongB));
  if constexpr (N == 64 && kBrain) GRADUS_WGMMA_HELD_64("k16.f32.bf16.bf16", ", %38");
  if constexpr (N == 64 && kHalves) GRADUS_WGMMA_HELD_64("k16.f32.f16.f16", ", %38");
  if constexpr (N == 64 && kFloats) GRADUS_WGMMA_HELD_64("k8.f32.tf32.tf32", "");
  if constexpr (N == 128 && kBrain) GRADUS_WGMMA_HELD_128("k16.f32.bf16.bf16", ", %70");
  if constexpr (N == 128 && kHalves) GRADUS_WGMMA_HELD_128("k16.f32.f16.f16", ", %70");
  if constexpr (N == 128 && kFloats) GRADUS_WGMMA_HELD_128("k8.f32.tf32.tf32", "");
}

#undef GRADUS_SUMS_8
#undef GRADUS_WGMMA_64
#undef GRADUS_WGMMA_128
#undef GRADUS_WGMMA_192
#undef GRADUS_WGMMA_256
#undef GRADUS_WGMMA_HELD_64
#undef GRADUS_WGMMA_HELD_128

#endif

// --- Operands of products. A tile in shared memory is a row of boxes of 64 x 64 elements of 16
// bits, each of 64 lines of 128 bytes whose 16-byte chunks are swizzled: chunk c of line r lies at
// c ^ r % 8.
inline constexpr int kBoxBytes = 64 * 64 * 2;

// Describes an operand ("Matrix descriptor"): lines in groups of 8, boxes one behind the other, or
// as many bytes apart.
__device__ inline uint64_t describe(const void* at, int apart = kBoxBytes) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  return uint64_t{(shared_address(at) & 0x3ffff) >> 4} | uint64_t(apart >> 4) << 16 |
         uint64_t{1024 >> 4} << 32 | kSwizzle128;
}

}  // namespace gradus::cuda::hopper
