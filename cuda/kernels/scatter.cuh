// scatter. A line is what one position in the other dimensions sees of the indexed one. Elements
// for one place must meet there in the order of the index. Three kernels keep that order: a thread
// for each line, a block for a few lines, a thread for each place. Where elements are set, not
// added, only the last one for a place is written. Sums of integers need no order; if the places
// are few, they are added up in shared memory. An index out of range is reported and skipped.
#pragma once

#include "gradus/cuda/kernels/index.cuh"
#include "gradus/tensor/math/scatter.h"

namespace gradus::cuda {

// The length of a line, and what out, index and src step by along it.
struct Line {
  int64_t length, jump, index_step, src_step;
};

// --- A thread for each line. The walk is over the lines, in out, index and src.
template <ScatterOp op, class T>
__global__ void scatter_lines(Strided<3> lines, IndexRule rule, Line line, Fault* fault, T* out,
                              const int64_t* index, const T* src) {
  wait_for_earlier_kernels();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= lines.numel) return;
  const auto at = offsets_of(lines, i);
  for (int64_t k = 0; k < line.length; ++k) {
    const int64_t number = index[at.at[1] + k * line.index_step];
    if (!in_range(fault, rule, number)) continue;
    T& there = out[at.at[0] + rule.place(number) * line.jump];
    there = put_to<op>(there, src[at.at[2] + k * line.src_step]);
  }
}

// --- A block for a few lines. In shared memory: these lines of out, and behind them who owns their
// places.
__host__ __device__ constexpr size_t line_bytes(int64_t cells, size_t element_size) {
  return (static_cast<size_t>(cells) * element_size + 7) / 8 * 8;
}
constexpr size_t shared_bytes(int64_t cells, size_t element_size) {
  return line_bytes(cells, element_size) + static_cast<size_t>(cells) * sizeof(unsigned);
}
inline constexpr int kScatterThreads = 512;
// So many blocks share a multiprocessor. It holds 2048 threads on compute capabilities 8.0, 9.0 and
// 10.0, and at least 1024 on others.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
inline constexpr int kScatterResident = 4;
#else
inline constexpr int kScatterResident = 2;
#endif
inline constexpr int64_t kMostScatters = (int64_t{1} << 32) / kScatterThreads - 2;  // of a line

// A block has 2^beside_bits lines that are neighbours in the last dimension of the walk, and
// neighbouring threads have one each. The block takes as many numbers at a time as it has threads.
// Numbers that want the same place must go one after the other, so they go in rounds. In each round
// every waiting thread bids for its place, and the first one of a place puts its element. Many
// threads want one place if they still wait after kRounds rounds. Then its first one puts the
// elements of all of them.
// REQUIRES: lines.dims > 0.
template <ScatterOp op, class T>
__global__ void __launch_bounds__(kScatterThreads, kScatterResident)
    scatter_in_block(Strided<3> lines, int beside_bits, IndexRule rule, Line line, Fault* fault,
                     T* out, const int64_t* index, const T* src) {
  wait_for_earlier_kernels();
  constexpr int kRounds = 16;
  constexpr unsigned kNobody = ~0u;
  extern __shared__ uint64_t shared[];
  __shared__ unsigned wanted[kScatterThreads];
  __shared__ T brought[kScatterThreads];
  const int cells = static_cast<int>(rule.size) << beside_bits;
  const int thread = static_cast<int>(threadIdx.x), step = kScatterThreads >> beside_bits;
  const int beside = thread & ((1 << beside_bits) - 1), first = thread >> beside_bits;
  T* const there = reinterpret_cast<T*>(shared);
  auto* const owner =
      reinterpret_cast<unsigned*>(reinterpret_cast<char*>(shared) + line_bytes(cells, sizeof(T)));
  const int last = lines.dims - 1;
  const int64_t blocks_of_row = ((lines.size[last] - 1) >> beside_bits) + 1;
  const int64_t row = blockIdx.x / blocks_of_row;
  const int64_t column = ((blockIdx.x - row * blocks_of_row) << beside_bits) + beside;
  const auto at = offsets_of(lines, last, row);
  out += at.at[0] + column * lines.stride[0][last];
  index += at.at[1] + column * lines.stride[1][last];
  src += at.at[2] + column * lines.stride[2][last];

  // A thread without a line has no places and no numbers.
  const int size = column < lines.size[last] ? static_cast<int>(rule.size) : 0;
  const int length = column < lines.size[last] ? static_cast<int>(line.length) : 0;
  for (int i = first; i < size; i += step) {
    there[i << beside_bits | beside] = out[i * line.jump];
    owner[i << beside_bits | beside] = kNobody;
  }
  __syncthreads();
  // The bid of a thread: the least bid has the place. The bids of a round are below those of all
  // rounds before, so that owners need not be cleared.
  unsigned bid = kNobody - kScatterThreads + static_cast<unsigned>(thread);
  // The next number and element are loaded before the rounds of this one.
  int64_t next_number = 0;
  T next{};
  const auto load = [&](int k) {
    if (k < length) next_number = index[k * line.index_step], next = src[k * line.src_step];
  };
  load(first);
  for (int begin = 0; begin < static_cast<int>(line.length); begin += step) {
    const int k = begin + first;
    const int64_t number = next_number;
    const T fresh = next;
    load(k + step);
    bool waits = k < length && in_range(fault, rule, number);
    const unsigned cell =
        waits ? static_cast<unsigned>(rule.place(number) << beside_bits | beside) : kNobody;
    for (int round = 0; __syncthreads_or(waits); ++round, bid -= kScatterThreads) {
      const bool is_last = round == kRounds;
      if (waits) atomicMin(&owner[cell], bid);
      if (is_last) wanted[thread] = waits ? cell : kNobody, brought[thread] = fresh;
      __syncthreads();
      const bool wins = waits && owner[cell] == bid;
      if (wins) there[cell] = put_to<op>(there[cell], fresh);
      if (wins && is_last)
        for (int other = thread + 1; other < kScatterThreads; ++other)
          if (wanted[other] == cell) there[cell] = put_to<op>(there[cell], brought[other]);
      if (wins || is_last) waits = false;
    }
  }
  for (int i = first; i < size; i += step) out[i * line.jump] = there[i << beside_bits | beside];
}

// --- Elements that are set: a thread for a few numbers, and then one for a few places, so that
// neither waits for one access to memory after the other.

// An owner, 0 at first, becomes the last number of a line that wants its place, counted from 1. The
// walk is over four: the numbers, the owners, the index, and the count along the line.
__global__ void claim_places(Strided<3> walk, IndexRule rule, int64_t jump, Fault* fault,
                             unsigned* owners, const int64_t* index) {
  wait_for_earlier_kernels();
  const int64_t first = int64_t{blockIdx.x} * kIndexBatch * blockDim.x + threadIdx.x;
  Offsets<3, int64_t> at[kIndexBatch];
  int64_t number[kIndexBatch];
  load_numbers(walk, first, index, at, number);
#pragma unroll
  for (int b = 0; b < kIndexBatch; ++b)
    if (first + b * blockDim.x < walk.numel && in_range(fault, rule, number[b]))
      atomicMax(&owners[at[b].at[0] + rule.place(number[b]) * jump],
                static_cast<unsigned>(at[b].at[2] + 1));
}

// The walk is over the places: in out, in what src has first for their line, and in the owners.
template <class T>
__global__ void put_owned(Strided<3> walk, int64_t src_step, T* out, const T* src,
                          const unsigned* owners) {
  wait_for_earlier_kernels();
  const int64_t first = int64_t{blockIdx.x} * kIndexBatch * blockDim.x + threadIdx.x;
  Offsets<3, int64_t> at[kIndexBatch];
  unsigned owner[kIndexBatch];
  T value[kIndexBatch];
#pragma unroll
  for (int b = 0; b < kIndexBatch; ++b) {
    owner[b] = 0;
    if (first + b * blockDim.x >= walk.numel) continue;
    at[b] = offsets_of(walk, first + b * blockDim.x);
    owner[b] = owners[at[b].at[2]];
  }
#pragma unroll
  for (int b = 0; b < kIndexBatch; ++b)
    if (owner[b] != 0) value[b] = src[at[b].at[1] + int64_t{owner[b] - 1} * src_step];
#pragma unroll
  for (int b = 0; b < kIndexBatch; ++b)
    if (owner[b] != 0) out[at[b].at[0]] = value[b];
}

// --- A number that is set: in any order. The walk is over the numbers, in out and in index. Where
// several numbers name one place, threads store the same there at once; so the stores are volatile.
template <class T>
__global__ void put_number(Strided<2> walk, IndexRule rule, int64_t jump, Fault* fault, T* out,
                           const int64_t* index, T value) {
  wait_for_earlier_kernels();
  const int64_t first = int64_t{blockIdx.x} * kIndexBatch * blockDim.x + threadIdx.x;
  Offsets<2, int64_t> at[kIndexBatch];
  int64_t number[kIndexBatch];
  load_numbers(walk, first, index, at, number);
#pragma unroll
  for (int b = 0; b < kIndexBatch; ++b)
    if (first + b * blockDim.x < walk.numel && in_range(fault, rule, number[b]))
      static_cast<volatile T*>(out)[at[b].at[0] + rule.place(number[b]) * jump] = value;
}

// --- Sums of integers: a thread for each number.
template <class T>
__global__ void scatter_integers(Strided<3> walk, IndexRule rule, int64_t jump, Fault* fault,
                                 T* out, const int64_t* index, const T* src) {
  wait_for_earlier_kernels();
  using Word = unsigned long long;  // as atomicAdd wants it
  static_assert(sizeof(T) == sizeof(Word) && std::is_integral_v<T>);
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= walk.numel) return;
  const auto at = offsets_of(walk, i);
  const int64_t number = index[at.at[1]];
  if (in_range(fault, rule, number))
    atomicAdd(reinterpret_cast<Word*>(&out[at.at[0] + rule.place(number) * jump]),
              static_cast<Word>(src[at.at[2]]));
}

inline constexpr int kAddBatch = 4;  // numbers that a thread has under way

// A block adds up its share of a line in shared memory, and then all that it has. Numbers of 64
// bits stand there as two of 32, which a GPU adds in one instruction: the low half that a thread
// finds tells whether its own made it wrap around.
template <class T>
__global__ void __launch_bounds__(kScatterThreads)
    scatter_integers_in_block(IndexRule rule, Line line, Fault* fault, T* out, const int64_t* index,
                              const T* src) {
  wait_for_earlier_kernels();
  using Word = unsigned long long;
  static_assert(sizeof(T) == sizeof(Word) && std::is_integral_v<T>);
  extern __shared__ uint64_t shared[];
  const int size = static_cast<int>(rule.size), thread = static_cast<int>(threadIdx.x);
  auto* const low = reinterpret_cast<unsigned*>(shared);
  unsigned* const high = low + size;
  for (int i = thread; i < 2 * size; i += kScatterThreads) low[i] = 0;
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * kScatterThreads;
  for (int64_t first = int64_t{blockIdx.x} * kScatterThreads + thread; first < line.length;
       first += kAddBatch * step) {
    int64_t number[kAddBatch];
    Word fresh[kAddBatch];
#pragma unroll
    for (int b = 0; b < kAddBatch; ++b)
      if (const int64_t k = first + b * step; k < line.length)
        number[b] = index[k * line.index_step],
        fresh[b] = static_cast<Word>(src[k * line.src_step]);
#pragma unroll
    for (int b = 0; b < kAddBatch; ++b) {
      if (first + b * step >= line.length || !in_range(fault, rule, number[b])) continue;
      const int64_t place = rule.place(number[b]);
      const auto low_half = static_cast<unsigned>(fresh[b]);
      const bool wraps = atomicAdd(&low[place], low_half) + low_half < low_half;
      const unsigned high_half = static_cast<unsigned>(fresh[b] >> 32) + wraps;
      if (high_half != 0) atomicAdd(&high[place], high_half);
    }
  }
  __syncthreads();
  for (int i = thread; i < size; i += kScatterThreads)
    if (const Word sum = Word{high[i]} << 32 | low[i]; sum != 0)
      atomicAdd(reinterpret_cast<Word*>(&out[i * line.jump]), sum);
}

// --- A thread for each place

// The place that a number stands for, from the start. It is `size`, which is no place, for a number
// that the rule does not allow. A functor of the elementwise kernels.
struct PlaceOf {
  IndexRule rule;
  Fault* fault;
  __device__ int64_t operator()(int64_t number) const {
    return in_range(fault, rule, number) ? rule.place(number) : rule.size;
  }
};

// Every line of places is sorted, stably, so that those of one place are neighbours; `order` says
// where they were and lies in memory as `places` do. The thread of the first of them takes them
// all, for kScatterBatch lines. Neighbouring threads, in x, do the same step of neighbouring lines.
// There are `parts` blocks for the lines. kShared: all lines have the same places, so a thread goes
// through them once for all its lines.
inline constexpr int kScatterBatch = 4;
// So many elements are under way at a time, and added in their order.
inline constexpr int kScatterAhead = 8;

template <ScatterOp op, bool kShared, class T>
__global__ void scatter_sorted(Strided<3> lines, unsigned parts, int64_t size, Line line, T* out,
                               const int64_t* places, const int64_t* order, const T* src) {
  wait_for_earlier_kernels();
  constexpr int kTogether = kShared ? kScatterBatch : 1, kAhead = kScatterAhead / kTogether;
  const unsigned steps = blockIdx.x / parts, part = blockIdx.x - steps * parts;
  const int64_t first = int64_t{steps} * blockDim.y + threadIdx.y;
  if (first >= line.length) return;
  int64_t i = int64_t{part} * kScatterBatch * blockDim.x + threadIdx.x;
  for (int batch = 0; batch < kScatterBatch && i < lines.numel;
       batch += kTogether, i += kTogether * blockDim.x) {
    Offsets<3, int64_t> at[kTogether];
#pragma unroll
    for (int b = 0; b < kTogether; ++b)
      if (i + b * blockDim.x < lines.numel) at[b] = offsets_of(lines, i + b * blockDim.x);
    const int64_t* const places_here = places + at[0].at[1];
    const int64_t* const order_here = order + at[0].at[1];
    const int64_t place = places_here[first * line.index_step];
    if (place == size || (first > 0 && places_here[(first - 1) * line.index_step] == place))
      continue;
    T value[kTogether];
#pragma unroll
    for (int b = 0; b < kTogether; ++b)
      if (i + b * blockDim.x < lines.numel) value[b] = out[at[b].at[0] + place * line.jump];
    bool mine[kAhead] = {};
    mine[kAhead - 1] = true;
    for (int64_t k = first; mine[kAhead - 1]; k += kAhead) {
      T ahead[kAhead][kTogether];
#pragma unroll
      for (int e = 0; e < kAhead; ++e)
        mine[e] = k + e < line.length && places_here[(k + e) * line.index_step] == place;
#pragma unroll
      for (int e = 0; e < kAhead; ++e) {
        if (!mine[e]) continue;
        const T* const from = src + order_here[(k + e) * line.index_step] * line.src_step;
#pragma unroll
        for (int b = 0; b < kTogether; ++b)
          if (i + b * blockDim.x < lines.numel) ahead[e][b] = from[at[b].at[2]];
      }
#pragma unroll
      for (int e = 0; e < kAhead; ++e)
#pragma unroll
        for (int b = 0; b < kTogether; ++b)
          if (mine[e]) value[b] = put_to<op>(value[b], ahead[e][b]);
    }
#pragma unroll
    for (int b = 0; b < kTogether; ++b)
      if (i + b * blockDim.x < lines.numel) out[at[b].at[0] + place * line.jump] = value[b];
  }
}

}  // namespace gradus::cuda
