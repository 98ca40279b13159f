// The search for NaN and infinities behind an operation: one kernel, in a graph too. The blocks go
// over the results. Nearly always all is finite, and nothing is left to do. Otherwise the last
// block to end looks at the operands, and tells the host what the operation has made.
#pragma once

#include <cuda_runtime.h>

#include "gradus/cuda/kernels/rows/last_block.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/update.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/cuda/runtime/nonfinite.h"
#include "gradus/tensor/base/dtype.h"

namespace gradus::cuda {

inline constexpr int kNonfiniteThreads = 256;
inline constexpr int kNonfiniteChunk = 8192;  // words of a block

// Shared by the blocks of one search and of the search before its operation. All is 0 between
// searches, but `first`, which is kNowhere.
struct NonfiniteScratch {
  unsigned blocks;  // that have ended
  unsigned given;   // kinds that the operands have
  unsigned long long nans, infinities;
  unsigned long long first;  // as in NonfiniteRecord
};
inline constexpr unsigned long long kNowhere = ~0ull;

// Tensors without gaps in memory: many.
struct DenseWords {
  static constexpr bool dense = true;
  const void* data;
  int64_t numel;  // words; a complex number is two
  ScalarType dtype;
  int bytes;  // of a word
  __device__ int64_t place(int64_t i) const { return i; }
};
// Tensors with any strides: few.
struct StridedWords {
  const void* data;
  int64_t numel;
  ScalarType dtype;
  int bytes;
  bool dense;
  Strided<1> walk;
  __device__ int64_t place(int64_t i) const { return dense ? i : offsets_of(walk, i).at[0]; }
};

template <class Words, int most>
struct NonfiniteTable {
  uint64_t number;
  bool before;                     // the operation has not run; the results are what it will change
  bool ends;                       // no other launch for this operation follows
  unsigned given;                  // kinds known to the host
  int count, all;                  // rows: results first, then operands
  unsigned first_block[most + 1];  // of each result, and the number of blocks
  Words rows[most];
  NonfiniteScratch* scratch;
  NonfiniteRecord* record;
};

// 1: NaN, 2: infinite, as tensor/nonfinite.h has them; 0: finite.
template <class Word>
__device__ unsigned kind_of_word(Word word, Word exponent) {
  if ((word & exponent) != exponent) return 0;
  return (word & ((exponent & (~exponent + 1)) - 1)) != 0 ? 1u : 2u;
}
template <class Words>
__device__ unsigned kind_at(const Words& row, int64_t i) {
  const int64_t at = row.place(i);
  switch (row.dtype) {
    case kHalf:
      return kind_of_word<unsigned>(static_cast<const uint16_t*>(row.data)[at], 0x7c00u);
    case kBFloat16:
      return kind_of_word<unsigned>(static_cast<const uint16_t*>(row.data)[at], 0x7f80u);
    case kDouble:
    case kComplexDouble:
      return kind_of_word<unsigned long long>(static_cast<const unsigned long long*>(row.data)[at],
                                              0x7ff0000000000000ull);
    default:
      return kind_of_word<unsigned>(static_cast<const unsigned*>(row.data)[at], 0x7f800000u);
  }
}

// The magnitude of a word that is finite, in float32.
template <class Words>
__device__ float magnitude_at(const Words& row, int64_t i) {
  const int64_t at = row.place(i);
  float value;
  switch (row.dtype) {
    case kHalf:
      value = static_cast<const Half*>(row.data)[at];
      break;
    case kBFloat16:
      value = static_cast<const BFloat16*>(row.data)[at];
      break;
    case kDouble:
    case kComplexDouble:
      value = static_cast<float>(static_cast<const double*>(row.data)[at]);
      break;
    default:
      value = static_cast<const float*>(row.data)[at];
  }
  return ::fabsf(value);
}

// Whether 16 bytes of a dtype may hold a word that is not finite: all bits of an exponent are set.
__device__ inline bool is_suspect(const Vector<unsigned, 4>& words, ScalarType dtype) {
  const unsigned exponent = dtype == kHalf                                ? 0x7c00u
                            : dtype == kBFloat16                          ? 0x7f80u
                            : dtype == kDouble || dtype == kComplexDouble ? 0x7ff00000u
                                                                          : 0x7f800000u;
  const bool halves = dtype == kHalf || dtype == kBFloat16;
  bool suspect = false;
#pragma unroll
  for (const unsigned word : words.at)
    suspect |= (word & exponent) == exponent || (halves && (word >> 16 & exponent) == exponent);
  return suspect;
}

// The number that NonfiniteRecord::first holds.
__device__ inline unsigned long long place_of(unsigned kind, int tensor, int64_t i) {
  return (kind == 1 ? 0ull : 1ull) << (kPlaceBits + kTensorBits) |
         static_cast<unsigned long long>(tensor) << kPlaceBits | static_cast<unsigned long long>(i);
}

struct WordCount {
  unsigned long long nans = 0, infinities = 0, first = kNowhere;
  template <class Words>
  __device__ void see(const Words& row, int number, int64_t i) {
    const unsigned kind = kind_at(row, i);
    if (kind == 0) return;
    ++(kind == 1 ? nans : infinities);
    const unsigned long long here = place_of(kind, number, i);
    first = here < first ? here : first;
  }
};
// The words [begin, end) of a row, by the threads of the block. REQUIRES: begin is a multiple of
// kNonfiniteChunk.
template <class Words>
__device__ WordCount count_words(const Words& row, int number, int64_t begin, int64_t end) {
  WordCount out;
  const int bytes = row.bytes;
  const auto* const from = static_cast<const char*>(row.data) + begin * bytes;
  int64_t at = begin;
  if (row.dense && is_aligned<4>(reinterpret_cast<const unsigned*>(from))) {
    const int some = 16 / bytes;  // words of a vector
    const int64_t vectors = (end - begin) / some;
    for (int64_t v = threadIdx.x; v < vectors; v += kNonfiniteThreads)
      if (is_suspect(load_vector<4>(reinterpret_cast<const unsigned*>(from + v * 16)), row.dtype))
        for (int k = 0; k < some; ++k) out.see(row, number, begin + v * some + k);
    at = begin + vectors * some;
  }
  for (at += threadIdx.x; at < end; at += kNonfiniteThreads) out.see(row, number, at);
  return out;
}

// The last block takes a chunk of each operand in turn, so that a mask shows its infinities soon.
template <class Table>
__device__ void look_at_operands(const Table& table) {
  __shared__ unsigned long long nans, infinities, first;
  __shared__ unsigned largest;  // the bits of a float that is not negative, which order as it does
  NonfiniteScratch& scratch = *table.scratch;
  const unsigned found = (scratch.nans ? 1u : 0u) | (scratch.infinities ? 2u : 0u);
  unsigned given = table.given | scratch.given;
  if (threadIdx.x == 0) nans = infinities = 0, first = kNowhere, largest = 0;
  __syncthreads();
  bool goes_on = true;
  for (int64_t begin = 0; goes_on; begin += kNonfiniteThreads) {
    goes_on = false;
    for (int r = table.count; r < table.all; ++r) {
      const auto& row = table.rows[r];
      if (begin >= row.numel) continue;
      goes_on = true;
      const int64_t i = begin + threadIdx.x;
      unsigned kind = 0;
      if (i < row.numel) {
        kind = kind_at(row, i);
        if (kind == 0) {
          atomicMax(&largest, __float_as_uint(magnitude_at(row, i)));
        } else {
          atomicAdd(kind == 1 ? &nans : &infinities, 1ull);
          atomicMin(&first, place_of(kind, r - table.count, i));
        }
      }
      given |= (__syncthreads_or(kind == 1) ? 1u : 0u) | (__syncthreads_or(kind == 2) ? 2u : 0u);
    }
    if (found == 2 && (given & 2u)) goes_on = false;  // an infinity that was there: nothing to tell
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned made = found & ~given;
  if (made == 0 && !(found & 1u)) return;
  NonfiniteRecord& record = *table.record;
  if (atomicCAS(&record.state, 0u, 1u) != 0u) return;
  record.given = given;
  record.number = table.number;
  record.nans = scratch.nans, record.infinities = scratch.infinities, record.first = scratch.first;
  record.given_nans = nans, record.given_infinities = infinities, record.given_first = first;
  record.largest = static_cast<double>(__uint_as_float(largest));
}

template <class Words, int most>
__global__ void __launch_bounds__(kNonfiniteThreads)
    nonfinite_kernel(const __grid_constant__ NonfiniteTable<Words, most> table) {
  const int which = row_of(table, blockIdx.x);
  const Words& row = table.rows[which];
  const int64_t begin = int64_t{blockIdx.x - table.first_block[which]} * kNonfiniteChunk;
  const WordCount count = count_words(row, which, begin, ::min(row.numel, begin + kNonfiniteChunk));
  NonfiniteScratch& scratch = *table.scratch;
  if (count.first != kNowhere) {
    atomicAdd(&scratch.nans, count.nans);
    atomicAdd(&scratch.infinities, count.infinities);
    atomicMin(&scratch.first, count.first);
  }
  if (!is_last_block(&scratch.blocks, gridDim.x)) return;
  if (!table.before && scratch.first != kNowhere) look_at_operands(table);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (table.before)
    scratch.given |= (scratch.nans ? 1u : 0u) | (scratch.infinities ? 2u : 0u);
  else if (table.ends)
    scratch.given = 0;
  scratch.nans = scratch.infinities = 0;
  scratch.first = kNowhere;
}

}  // namespace gradus::cuda
