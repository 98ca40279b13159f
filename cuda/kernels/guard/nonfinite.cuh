// The search for NaN and infinities behind operations, in a graph too: nonfinite_kernel for one
// operation, nonfinite_ends for many. The blocks go over results. Nearly always all is finite, and
// nothing is left to do. Otherwise the last block to end looks at the operations one after the
// other, at results and operands, and tells the host what the first one has made.
#pragma once

#include <cuda_runtime.h>

#include "gradus/cuda/kernels/pdl.cuh"
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

// An operation whose search was put off. The rows are results, then operands.
struct WaitingOperation {
  uint64_t number;
  unsigned given;  // kinds known to the host
  int first, count, all;
  unsigned* noted;  // kinds that a search before the operation found, or null
};
// Operations in the order of their launches, in memory of the host.
struct WaitingOperations {
  const WaitingOperation* operations;  // null: none
  const StridedWords* rows;
  int count;
  bool are_noted;           // some are
  const unsigned* updated;  // what an optimizer's step among them sets, or null
};

// All words of a tensor in any order: runs without gaps. Threads take them in slots, which are
// aligned as vectors are; the first and the last slot of a run may reach over its ends.
struct Runs {
  const char* data = nullptr;
  ScalarType dtype = kFloat;
  int bytes = sizeof(float);  // of a word
  int64_t count = 1;
  int64_t length = 0;  // of a run, in bytes
  int64_t slots = 0;   // of a run
};
struct EvenRuns : Runs {
  int64_t pitch = 0;  // bytes from a run to the next one
  __device__ const char* start(int64_t run) const { return data + run * pitch; }
};
struct StridedRuns : Runs {
  Strided<1> walk;  // over the runs
  __device__ const char* start(int64_t run) const {
    return data + offsets_of(walk, run).at[0] * bytes;
  }
};
inline constexpr int kSlotBytes = 16, kSlotsOfThread = 8;
inline constexpr int kSlotsOfChunk = kSlotsOfThread * kNonfiniteThreads;

template <class Rows, int most>
struct EndsTable {
  WaitingOperations waiting;  // whose results the rows are; none where another launch follows
  int count;
  unsigned first_block[most + 1];  // chunk of each row, and the number of chunks
  Rows rows[most];
  NonfiniteScratch* scratch;
  NonfiniteRecord* record;
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
    // Loads of a round do not wait for one another.
    constexpr int kRound = 8;
    for (int64_t v = threadIdx.x; v < vectors; v += kRound * kNonfiniteThreads) {
      Vector<unsigned, 4> words[kRound];
#pragma unroll
      for (int k = 0; k < kRound; ++k) {
        const int64_t here = v + k * kNonfiniteThreads;
        words[k] = load_vector<4>(
            reinterpret_cast<const unsigned*>(from + (here < vectors ? here : v) * 16));
      }
#pragma unroll
      for (int k = 0; k < kRound; ++k) {
        const int64_t here = v + k * kNonfiniteThreads;
        if (here < vectors && is_suspect(words[k], row.dtype))
          for (int w = 0; w < some; ++w) out.see(row, number, begin + here * some + w);
      }
    }
    at = begin + vectors * some;
  }
  for (at += threadIdx.x; at < end; at += kNonfiniteThreads) out.see(row, number, at);
  return out;
}

// A word that atomics change, which a cache may still have as it was.
template <class T>
__device__ T as_is(const T& word) {
  return *static_cast<const volatile T*>(&word);
}

// The last block takes a chunk of each operand in turn, so that a mask shows its infinities soon.
// Returns whether the host is told of something.
template <class Table>
__device__ bool look_at_operands(const Table& table) {
  __shared__ unsigned long long nans, infinities, first;
  __shared__ unsigned largest;  // the bits of a float that is not negative, which order as it does
  NonfiniteScratch& scratch = *table.scratch;
  const unsigned found = (as_is(scratch.nans) ? 1u : 0u) | (as_is(scratch.infinities) ? 2u : 0u);
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
  const unsigned made = found & ~given;
  if (made == 0 && !(found & 1u)) return false;
  if (threadIdx.x != 0) return true;
  NonfiniteRecord& record = *table.record;
  if (atomicCAS(&record.state, 0u, 1u) != 0u) return true;
  record.given = given;
  record.number = table.number;
  record.nans = as_is(scratch.nans), record.infinities = as_is(scratch.infinities);
  record.first = as_is(scratch.first);
  record.given_nans = nans, record.given_infinities = infinities, record.given_first = first;
  record.largest = static_cast<double>(__uint_as_float(largest));
  return true;
}

// An operation of those that wait, as look_at_operands takes it.
struct WaitingTable {
  uint64_t number;
  unsigned given;
  int count, all;
  const StridedWords* rows;
  NonfiniteScratch* scratch;
  NonfiniteRecord* record;
};

__device__ inline void clear_counts(NonfiniteScratch& scratch) {
  scratch.nans = scratch.infinities = 0;
  scratch.first = kNowhere;
}

// One block looks at the operations in turn, up to the first one that there is something to tell
// of.
__device__ inline void look_at_waiting(const WaitingOperations& waiting, NonfiniteScratch& scratch,
                                       NonfiniteRecord& record) {
  bool told = false;
  for (int i = 0; i < waiting.count && !told; ++i) {
    const WaitingOperation operation = waiting.operations[i];
    const WaitingTable table{operation.number,
                             operation.given | (operation.noted ? *operation.noted : 0u),
                             operation.count,
                             operation.all,
                             waiting.rows + operation.first,
                             &scratch,
                             &record};
    if (threadIdx.x == 0) clear_counts(scratch);
    __syncthreads();
    for (int r = 0; r < table.count; ++r) {
      const WordCount count = count_words(table.rows[r], r, 0, table.rows[r].numel);
      if (count.first == kNowhere) continue;
      atomicAdd(&scratch.nans, count.nans);
      atomicAdd(&scratch.infinities, count.infinities);
      atomicMin(&scratch.first, count.first);
    }
    __threadfence();
    __syncthreads();
    const bool found = as_is(scratch.first) != kNowhere;
    __syncthreads();
    if (found) told = look_at_operands(table);
    __syncthreads();
  }
  if (!told && threadIdx.x == 0) record.in_vain = 1;
}

// Finds exponents whose bits are all set in words of 4 bytes: the sum (word & mask) + one has a bit
// of `carry` then. A double has its exponent in the second word.
struct ExponentBits {
  unsigned mask[2], one[2], carry;
  __device__ unsigned of(unsigned word, int place) const {
    return (word & mask[place]) + one[place];
  }
};
__device__ inline ExponentBits exponent_bits(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return {{0x7c007c00u, 0x7c007c00u}, {0x04000400u, 0x04000400u}, 0x80008000u};
    case kBFloat16:
      return {{0x7f807f80u, 0x7f807f80u}, {0x00800080u, 0x00800080u}, 0x80008000u};
    case kDouble:
    case kComplexDouble:
      return {{0u, 0x7ff00000u}, {0u, 0x00100000u}, 0x80000000u};
    default:
      return {{0x7f800000u, 0x7f800000u}, {0x00800000u, 0x00800000u}, 0x80000000u};
  }
}

// Whether a thread's slots of the chunk that begins at slot `begin` of the row hold a word that is
// not finite.
template <class Rows>
__device__ bool sees_nonfinite(const Rows& row, int64_t begin) {
  const ExponentBits bits = exponent_bits(row.dtype);
  const int64_t slots = row.slots, left = row.count * slots - begin;
  const int64_t first_run = begin / slots, skipped = begin - first_run * slots;
  struct Slot {
    const char *from, *start, *end;  // of the slot and of its run
    __device__ bool is_whole() const { return from >= start && from + kSlotBytes <= end; }
  };
  const auto slot_of = [&](unsigned i) {
    int64_t at = skipped + i, run = first_run;
    if (slots < kSlotsOfChunk) {
      const unsigned runs = static_cast<unsigned>(at) / static_cast<unsigned>(slots);
      run += runs, at -= runs * slots;
    } else if (at >= slots) {
      ++run, at -= slots;
    }
    const char* const start = row.start(run);
    const auto over = static_cast<int64_t>(reinterpret_cast<uintptr_t>(start) % kSlotBytes);
    return Slot{start - over + at * kSlotBytes, start, start + row.length};
  };
  unsigned seen = 0, parts = 0;  // parts: bits of slots that reach over the ends
  // Loads do not wait for one another.
  Vector<unsigned, 4> words[kSlotsOfThread];
#pragma unroll
  for (int k = 0; k < kSlotsOfThread; ++k) {
    words[k] = {};
    const unsigned i = threadIdx.x + k * kNonfiniteThreads;
    if (i >= left) continue;
    const Slot slot = slot_of(i);
    if (slot.is_whole())
      words[k] = load_vector<4>(reinterpret_cast<const unsigned*>(slot.from));
    else
      parts |= 1u << k;
  }
#pragma unroll
  for (const auto& vector : words)
#pragma unroll
    for (int w = 0; w < 4; ++w) seen |= bits.of(vector.at[w], w % 2);
  for (int k = 0; parts != 0; ++k, parts >>= 1) {
    if (!(parts & 1u)) continue;
    const Slot slot = slot_of(threadIdx.x + k * kNonfiniteThreads);
    const char* at = slot.from < slot.start ? slot.start : slot.from;
    const char* const to = slot.from + kSlotBytes < slot.end ? slot.from + kSlotBytes : slot.end;
    for (; at < to; at += row.bytes)
      seen |= bits.of(row.bytes == 2   ? *reinterpret_cast<const uint16_t*>(at)
                      : row.bytes == 4 ? *reinterpret_cast<const unsigned*>(at)
                                       : reinterpret_cast<const unsigned*>(at)[1],
                      1);
  }
  return (seen & bits.carry) != 0;
}

template <class Words, int most>
__global__ void __launch_bounds__(kNonfiniteThreads)
    nonfinite_kernel(const __grid_constant__ NonfiniteTable<Words, most> table) {
  wait_for_earlier_kernels();
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
  clear_counts(scratch);
}

// Blocks that are resident take chunks in turn: what a block costs at its end is paid seldom.
inline constexpr int kBlocksOfEnds = 3;  // of a multiprocessor

template <class Rows, int most>
__global__ void __launch_bounds__(kNonfiniteThreads, kBlocksOfEnds)
    nonfinite_ends(const __grid_constant__ EndsTable<Rows, most> table) {
  wait_for_earlier_kernels();
  bool seen = false;
  for (unsigned chunk = blockIdx.x; chunk < table.first_block[table.count]; chunk += gridDim.x) {
    const int which = row_of(table, chunk);
    seen |= sees_nonfinite(table.rows[which],
                           int64_t{chunk - table.first_block[which]} * kSlotsOfChunk);
  }
  NonfiniteScratch& scratch = *table.scratch;
  if (__syncthreads_or(seen) && threadIdx.x == 0) atomicMin(&scratch.first, 0ull);
  if (!is_last_block(&scratch.blocks, gridDim.x)) return;
  const WaitingOperations& waiting = table.waiting;
  if (!waiting.operations) return;  // the next launch has what was found
  const bool found = scratch.first != kNowhere || (waiting.updated && *waiting.updated != 0);
  __syncthreads();
  if (found) look_at_waiting(waiting, scratch, *table.record);
  if (waiting.are_noted)
    for (int i = threadIdx.x; i < waiting.count; i += kNonfiniteThreads)
      if (unsigned* const noted = waiting.operations[i].noted) *noted = 0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (waiting.updated && *waiting.updated != 0) *const_cast<unsigned*>(waiting.updated) = 0;
  clear_counts(scratch);
}

}  // namespace gradus::cuda
