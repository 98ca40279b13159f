// The search for elements that are not 0, in two passes over tiles: the first counts those of each
// tile; once the counts have been summed up, the second knows where each tile writes what it found.
#pragma once

#include "gradus/cuda/kernels/early.cuh"
#include "gradus/cuda/kernels/lanes.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kFindBatch = 16;  // neighbouring elements of a thread
inline constexpr int kFindTile = kScanThreads * kFindBatch;

// Bit k says whether element k of this thread is not 0: whether any bit of `mask` is set there.
// `view` walks over x in row-major order.
template <class Bits>
__device__ unsigned find_in_tile(const Strided<2>& view, const Bits* x, Bits mask) {
  constexpr int N = vector_width<Bits>;
  const int64_t first = (int64_t{blockIdx.x} * kScanThreads + threadIdx.x) * kFindBatch;
  unsigned found = 0;
  if (view.dims == 1 && view.stride[1][0] == 1 && is_aligned<N>(x) &&
      first + kFindBatch <= view.numel) {
#pragma unroll
    for (int k = 0; k < kFindBatch; k += N) {
      const auto some = load_vector<N>(x + first + k);
#pragma unroll
      for (int i = 0; i < N; ++i)
        found |= static_cast<unsigned>((some.at[i] & mask) != 0) << (k + i);
    }
  } else {
    for (int k = 0; k < kFindBatch && first + k < view.numel; ++k)
      found |= static_cast<unsigned>((x[offsets_of(view, first + k).at[1]] & mask) != 0) << k;
  }
  return found;
}

template <class Bits>
__global__ void __launch_bounds__(kScanThreads)
    count_found(Strided<2> view, Bits mask, const Bits* x, int64_t* counts) {
  wait_for_earlier_kernels();
  const auto found = static_cast<unsigned>(__popc(find_in_tile(view, x, mask)));
  const unsigned total = scan_lanes(Counting{}, found, kScanThreads).total;
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// What is written of the element number i, in row-major order, which is the `place`-th one found:
// its coordinates, a row of `found` elements for each,
struct WriteCoordinates {
  int rank;
  int64_t size[kMaxDims];
  int64_t found;
  int64_t* out;

  __device__ void operator()(int64_t i, int64_t place) const {
    for (int d = rank - 1; d > 0; --d) {
      const int64_t outer = i / size[d];
      out[d * found + place] = i - outer * size[d];
      i = outer;
    }
    if (rank > 0) out[place] = i;
  }
};

// or the element of another tensor there. `view` walks over it in row-major order, as over x.
template <class Bits>
struct WriteElement {
  Strided<2> view;
  const Bits* from;
  Bits* out;

  __device__ void operator()(int64_t i, int64_t place) const {
    out[place] = from[offsets_of(view, i).at[1]];
  }
};

// counts: of this tile and all before it.
template <class Bits, class Write>
__global__ void __launch_bounds__(kScanThreads)
    write_found(Strided<2> view, Bits mask, const Bits* x, const int64_t* counts, Write write) {
  wait_for_earlier_kernels();
  __shared__ uint16_t list[kFindTile];  // of what is found in the tile, so that neighbours write it
  unsigned mine = find_in_tile(view, x, mask);
  const auto sums = scan_lanes(Counting{}, static_cast<unsigned>(__popc(mine)), kScanThreads);
  for (unsigned place = sums.before; mine != 0; mine &= mine - 1)
    list[place++] =
        static_cast<uint16_t>(threadIdx.x * kFindBatch + __ffs(static_cast<int>(mine)) - 1);
  __syncthreads();
  const int64_t tile_begin = counts[blockIdx.x] - sums.total;
  for (unsigned i = threadIdx.x; i < sums.total; i += kScanThreads)
    write(int64_t{blockIdx.x} * kFindTile + list[i], tile_begin + i);
}

}  // namespace gradus::cuda
