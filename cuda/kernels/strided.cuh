// Strided iteration on a GPU: the number of an element becomes its place in each of N tensors.
#pragma once

#include <type_traits>

#include "gradus/tensor/raw/strided.h"

namespace gradus::cuda {

template <int N, class Index>
struct Offsets {
  Index at[N];
};

// The places of element `index` of the walk over the first `dims` dimensions. One division for each
// dimension but the first. Most walks have two or three, for which an unrolled loop is only longer.
template <int N, class Index>
__device__ Offsets<N, Index> offsets_of(const Strided<N, Index>& walk, int dims, Index index) {
  using Unsigned = std::make_unsigned_t<Index>;  // divides faster
  Offsets<N, Index> out{};
#pragma unroll 1
  for (int d = dims - 1; d >= 0; --d) {
    Index here = index;
    if (d > 0) {
      index =
          static_cast<Index>(static_cast<Unsigned>(index) / static_cast<Unsigned>(walk.size[d]));
      here -= index * walk.size[d];
    }
    for (int n = 0; n < N; ++n) out.at[n] += here * walk.stride[n][d];
  }
  return out;
}
template <int N, class Index>
__device__ Offsets<N, Index> offsets_of(const Strided<N, Index>& walk, Index index) {
  return offsets_of(walk, walk.dims, index);
}

}  // namespace gradus::cuda
