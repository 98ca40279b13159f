#include "gradus/cpu/micro_kernel.h"

#include <vector>

namespace gradus::cpu {

namespace {

// Rows and vectors are chosen so that the tile, a row of b and an element of a fill the registers:
// 32 of 64 bytes, 16 of 32 bytes, 16 of 16 bytes.
#ifdef __x86_64__
template <class T>
__attribute__((target("avx512f"))) void multiply_avx512(int64_t k, const T* a, const T* b, T* out,
                                                        int64_t out_row, bool adds) {
  constexpr int kBytes = 64, kRows = 12, kVectors = 2;
  constexpr int64_t a_row = 1, a_step = kRows, b_row = kVectors * kBytes / sizeof(T);
#include "gradus/cpu/micro_kernel.inc"
}
template <class T>
__attribute__((target("avx512f"))) void multiply_in_place_avx512(int64_t k, const T* a,
                                                                 int64_t a_row, const T* b,
                                                                 int64_t b_row, T* out,
                                                                 int64_t out_row) {
  constexpr int kBytes = 64, kRows = 12, kVectors = 2;
  constexpr int64_t a_step = 1;
  constexpr bool adds = false;
#include "gradus/cpu/micro_kernel.inc"
}

template <class T>
__attribute__((target("avx2,fma"))) void multiply_avx2(int64_t k, const T* a, const T* b, T* out,
                                                       int64_t out_row, bool adds) {
  constexpr int kBytes = 32, kRows = 6, kVectors = 2;
  constexpr int64_t a_row = 1, a_step = kRows, b_row = kVectors * kBytes / sizeof(T);
#include "gradus/cpu/micro_kernel.inc"
}
template <class T>
__attribute__((target("avx2,fma"))) void multiply_in_place_avx2(int64_t k, const T* a,
                                                                int64_t a_row, const T* b,
                                                                int64_t b_row, T* out,
                                                                int64_t out_row) {
  constexpr int kBytes = 32, kRows = 6, kVectors = 2;
  constexpr int64_t a_step = 1;
  constexpr bool adds = false;
#include "gradus/cpu/micro_kernel.inc"
}
#endif

template <class T>
void multiply_portable(int64_t k, const T* a, const T* b, T* out, int64_t out_row, bool adds) {
  constexpr int kBytes = 16, kRows = 4, kVectors = 2;
  constexpr int64_t a_row = 1, a_step = kRows, b_row = kVectors * kBytes / sizeof(T);
#include "gradus/cpu/micro_kernel.inc"
}
template <class T>
void multiply_in_place_portable(int64_t k, const T* a, int64_t a_row, const T* b, int64_t b_row,
                                T* out, int64_t out_row) {
  constexpr int kBytes = 16, kRows = 4, kVectors = 2;
  constexpr int64_t a_step = 1;
  constexpr bool adds = false;
#include "gradus/cpu/micro_kernel.inc"
}

template <class T>
std::vector<MicroKernel<T>> find_kernels() {
  constexpr int64_t kSize = sizeof(T);
  std::vector<MicroKernel<T>> out;
#ifdef __x86_64__
  if constexpr (std::is_floating_point_v<T>) {
    if (__builtin_cpu_supports("avx512f"))
      out.push_back({"avx512", 12, 128 / kSize, multiply_avx512<T>, multiply_in_place_avx512<T>});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      out.push_back({"avx2", 6, 64 / kSize, multiply_avx2<T>, multiply_in_place_avx2<T>});
  }
#endif
  out.push_back({"portable", 4, 32 / kSize, multiply_portable<T>, multiply_in_place_portable<T>});
  return out;
}

}  // namespace

template <class T>
ArrayRef<MicroKernel<T>> micro_kernels() {
  static const std::vector<MicroKernel<T>> kernels = find_kernels<T>();
  return kernels;
}

template ArrayRef<MicroKernel<float>> micro_kernels();
template ArrayRef<MicroKernel<double>> micro_kernels();
template ArrayRef<MicroKernel<int64_t>> micro_kernels();

}  // namespace gradus::cpu
