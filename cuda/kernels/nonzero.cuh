// The search for elements that are not 0, in two passes over tiles. The first counts those of each
// tile, and keeps a bit for each element. Then the counts are summed up, and the second pass knows
// where each tile writes what it found.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kFindBatch = 16;  // neighbouring elements of a thread
inline constexpr int kFindTile = kScanThreads * kFindBatch;

// Tests the kFindBatch elements of this thread in a list of n. Bit k is is(element k, the element
// before it, whether it is the first of the list).
// Neighbouring threads load neighbouring vectors; the answers pass through shared memory.
// REQUIRES: all threads of the block call it.
template <class T, class Is>
__device__ unsigned find_in_list(const T* x, int64_t n, const Is& is) {
  constexpr int N = vector_width<T>;
  alignas(kFindBatch) __shared__ uint8_t answers[kFindTile];
  const int64_t begin = int64_t{blockIdx.x} * kFindTile;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int k = 0; k < kFindBatch / N; ++k) {
    const int place = (k * kScanThreads + thread) * N;
    const int64_t first = begin + place;
    const int count = static_cast<int>(::min(n - first, int64_t{N}));  // may be negative
    Vector<T, N> some;
    if (count == N && is_aligned<N>(x)) {
      some = load_vector<N>(x + first);
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i)
        if (i < count) some.at[i] = x[first + i];
    }
    T before = count > 0 && first > 0 ? x[first - 1] : T{};
    Vector<uint8_t, N> answer;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      answer.at[i] = i < count && is(some.at[i], before, first + i == 0);
      before = some.at[i];
    }
    store_vector(answers + place, answer);
  }
  __syncthreads();
  const auto mine = load_vector<kFindBatch>(answers + thread * kFindBatch);
  unsigned found = 0;
#pragma unroll
  for (int k = 0; k < kFindBatch; ++k) found |= static_cast<unsigned>(mine.at[k]) << k;
  return found;
}

// The tests of a search. All threads of a block call it, and each gets the bits of its elements.
// NotZero: elements in which any bit of `mask` is set. `view` walks over x in row-major order.
template <class Bits>
struct NotZero {
  Strided<2> view;
  const Bits* x;
  Bits mask;

  __device__ unsigned operator()() const {
    if (view.dims == 1 && view.stride[1][0] == 1)
      return find_in_list(x, view.numel,
                          [this](Bits element, Bits, bool) { return (element & mask) != 0; });
    const int64_t first = (int64_t{blockIdx.x} * kScanThreads + threadIdx.x) * kFindBatch;
    unsigned found = 0;
    for (int k = 0; k < kFindBatch && first + k < view.numel; ++k)
      found |= static_cast<unsigned>((x[offsets_of(view, first + k).at[1]] & mask) != 0) << k;
    return found;
  }
};

// The first element of a list, and those that differ from the one before.
template <class T>
struct RunStart {
  int64_t n;
  const T* x;

  __device__ unsigned operator()() const {
    return find_in_list(
        x, n, [](T element, T before, bool is_first) { return is_first || element != before; });
  }
};

// The first pass. found: 16 bits for each thread, or null.
template <class Find>
__global__ void __launch_bounds__(kScanThreads)
    count_found(Find find, int64_t* counts, uint16_t* found) {
  wait_for_earlier_kernels();
  const unsigned mine = find();
  if (found) found[int64_t{blockIdx.x} * kScanThreads + threadIdx.x] = static_cast<uint16_t>(mine);
  const auto count = static_cast<unsigned>(__popc(mine));
  const unsigned total = scan_lanes(Counting{}, count, kScanThreads).total;
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// The writes of a search for each element found. i is its number in row-major order, `place` how
// many were found before it. WriteCoordinates writes the element's coordinates, a row of `found`
// numbers for each.
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

// Element i of a tensor, which `view` walks over in row-major order, to or from a place in a list.
template <class Bits, bool to_list>
struct MoveElement {
  Strided<2> view;
  const Bits* from;
  Bits* out;

  __device__ void operator()(int64_t i, int64_t place) const {
    const int64_t offset = offsets_of(view, i).at[1];
    out[to_list ? place : offset] = from[to_list ? offset : place];
  }
};

// The second pass. counts: of this tile and all before it.
template <class Write>
__global__ void __launch_bounds__(kScanThreads)
    write_found(const int64_t* counts, const uint16_t* found, Write write) {
  wait_for_earlier_kernels();
  __shared__ uint16_t list[kFindTile];  // of what is found in the tile, so that neighbours write it
  unsigned mine = found[int64_t{blockIdx.x} * kScanThreads + threadIdx.x];
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
