// nvcuda::wmma: products of 16 x 16 matrices of halves, which the lanes of a warp make together.
// Each lane moves its part of a matrix by accesses of its own, so they are checked and counted.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include <cuda_fp16.h>
#include <sim/block.h>
#include <sim/loads.h>
#include <sim/warp.h>

namespace gradus::cuda::sim {

// Where a lane's i-th element stands: in which line, and where in it. A lane holds pieces of 16
// bytes, and lanes side by side hold pieces of different lines: a warp moves whole sectors, and
// shared memory has the bank conflicts that ldmatrix has. CUDA leaves this open.
struct FragmentPlace {
  unsigned line, at;
};
constexpr FragmentPlace fragment_place(unsigned lane, unsigned i, unsigned element_bytes) {
  const unsigned each = 16 / element_bytes, piece = lane + 32 * (i / each);
  return {piece % 16, piece / 16 * each + i % each};
}

// A lane's part of a product c += a b.
struct MatrixFragments {
  float a[8], b[8], c[8];
  unsigned c_bytes;                 // of an element of c
  bool a_of_columns, b_of_columns;  // whether lines are columns
};

__forceinline__ unsigned own_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

// Waits for all lanes of the warp, which must name one matrix. `what` tells kinds of accesses
// apart.
template <class T>
__forceinline__ void meet_at_matrix(const T* matrix, unsigned ldm, unsigned what) {
  warp_call(WarpOp::matrix, ~0u, bits_of(matrix), ldm * 4 + what);
  require_aligned(matrix, 32);
  require_aligned(matrix + ldm, 16);
}

template <class T>
struct Piece {
  T x[16 / sizeof(T)];
};

// Elements of lines in memory that lie ldm elements apart.
template <class T>
__forceinline__ void load_lines(T (&x)[8], const T* from, unsigned ldm) {
  constexpr unsigned each = 16 / sizeof(T);
  for (unsigned i = 0; i < 8; i += each) {
    const FragmentPlace place = fragment_place(own_lane(), i, sizeof(T));
    const Bytes<Piece<T>> bytes =
        *reinterpret_cast<const Bytes<Piece<T>>*>(from + size_t{place.line} * ldm + place.at);
    const auto piece = std::bit_cast<Piece<T>>(bytes);
    for (unsigned j = 0; j < each; ++j) x[i + j] = piece.x[j];
  }
}
template <class T>
__forceinline__ void store_lines(T* to, const T (&x)[8], unsigned ldm) {
  constexpr unsigned each = 16 / sizeof(T);
  for (unsigned i = 0; i < 8; i += each) {
    const FragmentPlace place = fragment_place(own_lane(), i, sizeof(T));
    Piece<T> piece;
    for (unsigned j = 0; j < each; ++j) piece.x[j] = x[i + j];
    *reinterpret_cast<Bytes<Piece<T>>*>(to + size_t{place.line} * ldm + place.at) =
        std::bit_cast<Bytes<Piece<T>>>(piece);
  }
}

}  // namespace gradus::cuda::sim

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

// A lane's part of a matrix: CUDA leaves open which elements. A new fragment is NaN.
template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  static constexpr bool kSums = std::is_same_v<Use, accumulator>;
  static_assert(m == 16 && n == 16 && k == 16, "the simulator has products of 16 x 16 x 16");
  static_assert(std::is_same_v<T, __half> || (kSums && std::is_same_v<T, float>),
                "the simulator multiplies __half, and sums in float or __half");
  static_assert(kSums ? std::is_void_v<Layout>
                      : std::is_same_v<Layout, row_major> || std::is_same_v<Layout, col_major>,
                "matrix_a and matrix_b are row_major or col_major, an accumulator is neither");
  using element_type = T;
  static constexpr int num_elements = 8;

  __forceinline__ fragment() {
    for (T& each : x) each = std::numeric_limits<float>::quiet_NaN();
  }
  T x[num_elements];
};

template <class T>
using Sums = fragment<accumulator, 16, 16, 16, T>;

template <class Use, class T, class Layout>
__forceinline__ void fill_fragment(fragment<Use, 16, 16, 16, T, Layout>& to,
                                   const std::type_identity_t<T>& value) {
  for (T& each : to.x) each = value;
}

// Rows, or columns, begin ldm elements apart. The matrix begins at
// a multiple of 32 bytes, and each of its rows or columns at one of 16.
template <class Use, class T, class Layout>
requires(!std::is_void_v<Layout>) __forceinline__
    void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout>& to,
                          const std::type_identity_t<T>* from, unsigned ldm) {
  gradus::cuda::sim::meet_at_matrix(from, ldm, 0);
  gradus::cuda::sim::load_lines(to.x, from, ldm);
}
template <class T>
__forceinline__ void load_matrix_sync(Sums<T>& to, const std::type_identity_t<T>* from,
                                      unsigned ldm, layout_t layout) {
  using namespace gradus::cuda::sim;
  meet_at_matrix(from, ldm, static_cast<unsigned>(layout));
  if (layout == mem_row_major) return load_lines(to.x, from, ldm);
  for (unsigned i = 0; i < 8; ++i) {
    const FragmentPlace place = fragment_place(own_lane(), i, sizeof(T));
    to.x[i] = from[size_t{place.at} * ldm + place.line];
  }
}

template <class T>
__forceinline__ void store_matrix_sync(std::type_identity_t<T>* to, const Sums<T>& from,
                                       unsigned ldm, layout_t layout) {
  using namespace gradus::cuda::sim;
  meet_at_matrix(to, ldm, 2 + static_cast<unsigned>(layout));
  if (layout == mem_row_major) return store_lines(to, from.x, ldm);
  for (unsigned i = 0; i < 8; ++i) {
    const FragmentPlace place = fragment_place(own_lane(), i, sizeof(T));
    to[size_t{place.at} * ldm + place.line] = from.x[i];
  }
}

// d = a b + c. Products are exact; their sum is rounded once.
template <class T, class LayoutA, class LayoutB>
__forceinline__ void mma_sync(Sums<T>& d, const fragment<matrix_a, 16, 16, 16, __half, LayoutA>& a,
                              const fragment<matrix_b, 16, 16, 16, __half, LayoutB>& b,
                              const Sums<T>& c) {
  using namespace gradus::cuda::sim;
  MatrixFragments mine;
  for (int i = 0; i < 8; ++i) mine.a[i] = a.x[i], mine.b[i] = b.x[i], mine.c[i] = c.x[i];
  mine.c_bytes = sizeof(T);
  mine.a_of_columns = std::is_same_v<LayoutA, col_major>;
  mine.b_of_columns = std::is_same_v<LayoutB, col_major>;
  warp_call(WarpOp::multiply_matrices, ~0u, bits_of(&mine));
  for (int i = 0; i < 8; ++i) d.x[i] = mine.c[i];
}

}  // namespace nvcuda::wmma
