// The instructions of tensor cores, and copies to shared memory that nobody waits for. The
// simulator has replacements of both; GPUs before compute capability 8.0 have them of the copies.
#pragma once

#include <cstdint>

#ifdef GRADUS_SIMULATED
#include <sim/async_copy.h>
#endif

#include "gradus/tensor/base/half.h"

namespace gradus::cuda {

// The elements that a lane holds of a 16 x 8 matrix a, an 8 x 8 matrix b and a 16 x 8 matrix c.
// group is lane / 4 and member is lane % 4 (PTX ISA, "Matrix Fragments for mma.m16n8k8"):
//   a: (group, member), (group + 8, member), (group, member + 4), (group + 8, member + 4);
//   b: (member, group), (member + 4, group);
//   c: (group, 2 member), (group, 2 member + 1), (group + 8, 2 member), (group + 8, 2 member + 1).

// c += a b. The elements of a and b are bits of floats, of whose fractions the first 10 bits count
// (TF32). Compute capability 8.0 and up; elsewhere it does nothing.
__device__ inline void multiply_add_tf32(float (&c)[4], const uint32_t (&a)[4],
                                         const uint32_t (&b)[2]) {
#if defined(GRADUS_SIMULATED)
  sim::multiply_add_tf32(c, a, b);
#elif __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// x = big + small / scale, where big is x rounded to a fraction of 10 bits. small has at most 12
// bits, with either sign, and tensor cores read 11 of them. So the last bit of x may be lost.
// Tensor cores read no bit below 2^-136. A scale lifts the bits of a small x above that.
struct Halves {
  uint32_t big, small;
};
__device__ inline Halves halves(float x, float scale = 1) {
  constexpr uint32_t kKept = 0xffffe000, kHalfUlp = 0x1000;
  const uint32_t big = (__float_as_uint(x) + kHalfUlp) & kKept;
  return {big, __float_as_uint((x - __uint_as_float(big)) * scale)};
}

// The same of a 16 x 16 matrix a, a 16 x 8 matrix b and a 16 x 8 matrix c. A register holds two
// elements of a half type, the first one below ("Matrix Fragments for mma.m16n8k16"):
//   a: (group, 2 member), (group + 8, 2 member), (group, 2 member + 8), (group + 8, 2 member + 8);
//   b: (2 member, group), (2 member + 8, group);
//   c: as above.
// The second element is in the next column of a, and in the next row of b.

// The first, or the second, element of a register.
template <HalfType T>
__device__ float half_of(uint32_t both, int second) {
  T out;
  out.bits = static_cast<uint16_t>(both >> (16 * second));
  return out;
}
template <HalfType T>
__device__ uint32_t both_halves(float first, float second) {
#if !defined(GRADUS_SIMULATED) && __CUDA_ARCH__ >= 800
  uint32_t both;
  if constexpr (std::is_same_v<T, BFloat16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
#else
  return uint32_t{T(first).bits} | uint32_t{T(second).bits} << 16;
#endif
}

// c += a b, without such an instruction: the lanes of a warp tell each other what they hold.
// ptxas took over 20 minutes for the kernels of attention where this was inlined.
template <HalfType T>
__device__ __noinline__ void multiply_add_halves_by_lanes(float (&c)[4], const uint32_t (&a)[4],
                                                          const uint32_t (&b)[2]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / 4, member = lane % 4;
#pragma unroll
  for (int late = 0; late < 2; ++late)
#pragma unroll
    for (int holder = 0; holder < 4; ++holder) {
      const uint32_t upper = __shfl_sync(0xffffffffu, a[2 * late], group * 4 + holder);
      const uint32_t lower = __shfl_sync(0xffffffffu, a[2 * late + 1], group * 4 + holder);
#pragma unroll
      for (int col = 0; col < 2; ++col) {
        const uint32_t other = __shfl_sync(0xffffffffu, b[late], (2 * member + col) * 4 + holder);
#pragma unroll
        for (int second = 0; second < 2; ++second) {
          c[col] += half_of<T>(upper, second) * half_of<T>(other, second);
          c[2 + col] += half_of<T>(lower, second) * half_of<T>(other, second);
        }
      }
    }
}

// c += a b.
template <HalfType T>
__device__ void multiply_add_halves(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#if defined(GRADUS_SIMULATED)
  // TF32 holds every half. A lane's neighbouring terms become terms 4 apart.
  for (int late = 0; late < 2; ++late) {
    const auto bits = [](uint32_t both, int second) {
      return __float_as_uint(half_of<T>(both, second));
    };
    const uint32_t upper = a[2 * late], lower = a[2 * late + 1];
    multiply_add_tf32(c, {bits(upper, 0), bits(lower, 0), bits(upper, 1), bits(lower, 1)},
                      {bits(b[late], 0), bits(b[late], 1)});
  }
#elif __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, BFloat16>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  multiply_add_halves_by_lanes<T>(c, a, b);
#endif
}

// The fragments b of the first and the second 8 columns of a 16 x 16 matrix in shared memory, whose
// rows are `pitch` elements apart. REQUIRES: rows are aligned to 16 bytes.
template <HalfType T>
__device__ void load_columns(const T* from, int pitch, uint32_t (&b)[2][2]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#if !defined(GRADUS_SIMULATED) && __CUDA_ARCH__ >= 750
  const auto row =
      static_cast<uint32_t>(__cvta_generic_to_shared(from + lane % 16 * pitch + lane / 16 * 8));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(b[0][0]), "=r"(b[0][1]), "=r"(b[1][0]), "=r"(b[1][1])
               : "r"(row)
               : "memory");
#else
#pragma unroll
  for (int right = 0; right < 2; ++right)
#pragma unroll
    for (int late = 0; late < 2; ++late) {
      const T* const at = from + (lane % 4 * 2 + late * 8) * pitch + lane / 4 + right * 8;
      b[right][late] = uint32_t{at[0].bits} | uint32_t{at[pitch].bits} << 16;
    }
#endif
}

// The fragment a of a matrix in shared memory, whose rows are `pitch` elements apart: 16 x 16 of a
// half type, or 16 x 8 floats. Of the matrix's transpose, a[0] and a[2] are the fragment b of the
// first 8 columns, a[1] and a[3] that of the others. REQUIRES: rows are aligned to 16 bytes.
template <class T>
__device__ void load_rows(const T* from, int pitch, uint32_t (&a)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#if !defined(GRADUS_SIMULATED) && __CUDA_ARCH__ >= 750
  constexpr int kUnit = 16 / sizeof(T);
  const auto row =
      static_cast<uint32_t>(__cvta_generic_to_shared(from + lane % 16 * pitch + lane / 16 * kUnit));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(row)
               : "memory");
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const T* const at = from + (lane / 4 + i % 2 * 8) * pitch;
    a[i] = reinterpret_cast<const uint32_t*>(at)[lane % 4 + i / 2 * 4];
  }
#endif
}

// Copies `bytes` of a unit of kBytes (4 or 16) to shared memory, and fills the rest of it with
// zeros. The copy is done once the group that it belongs to has been waited for.
// REQUIRES: both places are aligned to kBytes.
template <int kBytes>
__device__ __forceinline__ void copy_later(void* to, const void* from, int bytes) {
#if defined(GRADUS_SIMULATED)
  sim::begin_copy(to, from, kBytes, static_cast<unsigned>(bytes));
#elif __CUDA_ARCH__ >= 800
  const auto place = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(from), "r"(bytes)
                 : "memory");
#else
  for (int i = 0; i < kBytes / 4; ++i)
    static_cast<float*>(to)[i] = 4 * i < bytes ? static_cast<const float*>(from)[i] : 0.f;
#endif
}

// Makes a group of the copies that this thread has begun since the last call.
__device__ __forceinline__ void end_copy_group() {
#if defined(GRADUS_SIMULATED)
  sim::end_copy_group();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the last kPending groups of this thread are under way.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
#if defined(GRADUS_SIMULATED)
  sim::wait_for_copies(kPending);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace gradus::cuda
