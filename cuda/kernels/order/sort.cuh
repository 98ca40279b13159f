// Sorting rows of pairs of a key (tensor/math/sort_key.h) and an index.
//
// Rows of up to kShortRow items: sort_short_rows, Batcher's bitonic network in shared memory (K.
// Batcher, Sorting networks and their applications, 1968). A network compares pairs of places that
// do not depend on the items, so every thread has the same to do. The sort is stable, for no two
// items of a row are equal: the index counts as the low half of the key.
//
// Rows of up to a tile: sort_tile_rows, a radix sort by a block, which keeps the row in registers.
//
// Longer rows: a radix sort that reads and writes every item once a pass (A. Adinets and D.
// Merrill, Onesweep: a faster least significant digit radix sort for GPUs, 2022). count_row_digits
// counts how often each digit occurs in each row, for all passes at once. A pass of move_items
// brings each tile into order and writes it where its items belong: behind lower digits of the row,
// and behind the same digit in tiles before. A tile learns the latter by looking back at the
// messages of those tiles.
#pragma once

#include "gradus/cuda/kernels/order/digits.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/tensor/math/sort_key.h"

namespace gradus::cuda {

// Rows of n neighbouring elements, one row after the other.
template <class T>
struct Rows {
  int64_t count, n;
  bool descending;
  const T* x;
  T* values;
  int64_t* indices;

  // Writes what is now at `place` of the row that begins at `row`.
  __device__ void write(int64_t row, int64_t place, SortKey<T> key, unsigned index) const {
    values[row + place] = sorted_value<T>(key, descending, [&] { return x[row + index]; });
    indices[row + place] = static_cast<int64_t>(index);
  }
};

// --- Short rows

inline constexpr int kShortRow = 256;
inline constexpr int kShortRowItems = 2048;  // of a block

template <class Key>
struct SortItem {
  Key key, index;
};
template <class Key>
__device__ bool operator<(const SortItem<Key>& a, const SortItem<Key>& b) {
  return a.key != b.key ? a.key < b.key : a.index < b.index;
}

// Sorts each of the rows of `width` items, a power of two, among `count` in shared memory. Runs of
// `size` items become sorted, up and down in turns; the last run, which is all of the row, up.
template <class Key>
__device__ void sort_items(SortItem<Key>* items, int count, int width) {
  const int threads = static_cast<int>(blockDim.x);
  for (int size = 2; size <= width; size *= 2)
    for (int reach = size / 2; reach > 0; reach /= 2) {
      __syncthreads();
      for (int pair = static_cast<int>(threadIdx.x); pair < count / 2; pair += threads) {
        const int low = 2 * pair - (pair & (reach - 1)), high = low + reach;
        const bool up = (low & (width - 1) & size) == 0;
        const SortItem<Key> a = items[low], b = items[high];
        if ((b < a) == up) items[low] = b, items[high] = a;
      }
    }
  __syncthreads();
}

// `width`, a power of two, is n or the next one above; kShortRowItems / width rows to a block. The
// places behind a row are filled with items that come after all others.
template <class T>
__global__ void __launch_bounds__(kScanThreads) sort_short_rows(Rows<T> rows, int width) {
  wait_for_earlier_kernels();
  using Key = SortKey<T>;
  __shared__ SortItem<Key> items[kShortRowItems];
  const int n = static_cast<int>(rows.n), rows_of_block = kShortRowItems / width;
  const int64_t first_row = int64_t{blockIdx.x} * rows_of_block;
  const int count = static_cast<int>(::min(int64_t{rows_of_block}, rows.count - first_row)) * width;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kScanThreads) {
    const int row = i / width, column = i & (width - 1);
    const Key key =
        column < n ? sort_key(rows.x[(first_row + row) * n + column], rows.descending) : ~Key{0};
    items[i] = {key, static_cast<Key>(column)};
  }
  sort_items(items, count, width);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kScanThreads) {
    const int row = i / width, column = i & (width - 1);
    if (column < n)
      rows.write((first_row + row) * n, column, items[i].key,
                 static_cast<unsigned>(items[i].index));
  }
}

// --- Rows of up to a tile

// The shared memory that a block of so many threads needs.
template <class T>
constexpr size_t tile_row_bytes(int threads) {
  const auto count = static_cast<size_t>(threads);
  return count / 32 * sizeof(DigitCounts) + count * kSortBatch * sizeof(SortKey<T>);
}

// A block for each row, of a power of two of warps. Items of the highest digit fill the place
// behind the end of a row. They come last, so they move none of the others.
template <class T>
__global__ void __launch_bounds__(kScanThreads) sort_tile_rows(Rows<T> rows, int bits) {
  wait_for_earlier_kernels();
  using Key = SortKey<T>;
  extern __shared__ uint64_t shared[];
  const int threads = static_cast<int>(blockDim.x), n = static_cast<int>(rows.n);
  auto* const space = reinterpret_cast<Key*>(shared);
  auto* const count = reinterpret_cast<DigitCounts*>(space + threads * kSortBatch);
  const int64_t row = int64_t{blockIdx.x} * n;
  Key key[kSortBatch], differs = 0;  // bits in which some key is not the first one
  unsigned index[kSortBatch], to[kSortBatch];
  const Key first = sort_key(rows.x[row], rows.descending);
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) {
    const int place = place_in_tile(k);
    key[k] = place < n ? sort_key(rows.x[row + place], rows.descending) : ~Key{0};
    if (place < n) differs |= key[k] ^ first;
    index[k] = static_cast<unsigned>(place);
  }
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    if (!__syncthreads_or(digit_of(differs, shift) != 0)) continue;
    order_by_digit(key, shift, threads, count, to);
    exchange(to, key, space);
    exchange(to, index, space);
  }
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) {
    const int place = place_in_tile(k);
    if (place < n) rows.write(row, place, key[k], index[k]);
  }
}

// --- Long rows

using Count = unsigned long long;  // as atomicAdd wants it

inline constexpr int kDigitCopies = 4;  // so that equal digits of a warp meet less often

// Each row has `parts` blocks. counts: of every digit, [row][pass][digit].
template <class T>
__global__ void __launch_bounds__(kScanThreads)
    count_row_digits(Rows<T> rows, int64_t parts, int passes, Count* counts) {
  wait_for_earlier_kernels();
  __shared__ unsigned count[sizeof(SortKey<T>)][kDigitCopies][kDigits];
  for (int pass = 0; pass < passes; ++pass)
    for (auto& copy : count[pass]) copy[threadIdx.x] = 0;
  __syncthreads();
  const int64_t row = blockIdx.x / parts, length = (rows.n + parts - 1) / parts;
  const int64_t begin = (blockIdx.x - row * parts) * length;
  const int64_t end = ::min(begin + length, rows.n);
  for (int64_t i = begin + threadIdx.x; i < end; i += kScanThreads) {
    const SortKey<T> key = sort_key(rows.x[row * rows.n + i], rows.descending);
    for (int pass = 0; pass < passes; ++pass)
      atomicAdd(&count[pass][threadIdx.x % kDigitCopies][digit_of(key, pass * kDigitBits)], 1u);
  }
  __syncthreads();
  for (int pass = 0; pass < passes; ++pass) {
    unsigned total = 0;
    for (const auto& copy : count[pass]) total += copy[threadIdx.x];
    if (total > 0) atomicAdd(&counts[(row * passes + pass) * kDigits + threadIdx.x], Count{total});
  }
}

// One pass of all. A row is not moved by a pass in which all its keys have one digit, as the high
// ones of small integers. Other passes take keys and indices from one of two buffers to the other
// in turn. Only the first begins with the row, and the last ends it. The message of a tile about a
// digit, [tile][digit], is a count under a tag. The tag of pass p is 2p + 1 where it counts the
// items of the tile, and 2p + 2 where it has those of all tiles of the row up to this one. So
// messages that earlier passes left mean nothing. All of it starts as 0.
template <class T>
struct SortPass {
  int pass, passes;
  int64_t tiles;  // of a row
  const Count* counts;
  Count* said;
  Count* next_tile;  // of each pass
  SortKey<T>* keys[2];
  unsigned* indices[2];

  // Bit p: whether pass p moves the row, whose first key is given; one pass does in any case.
  __device__ unsigned passes_that_move(int64_t row, int64_t n, SortKey<T> first) const {
    unsigned moves = 0;
    for (int p = 0; p < passes; ++p) {
      const Count same = counts[(row * passes + p) * kDigits + digit_of(first, p * kDigitBits)];
      moves |= static_cast<unsigned>(same != static_cast<Count>(n)) << p;
    }
    return moves == 0 ? 1 : moves;
  }
};
inline constexpr int kTagShift = 56;

// How many items tiles of the row before this one have of the digit at whose count `said` points.
__device__ inline unsigned look_back(const Count* said, int64_t tiles_before, Count tag) {
  unsigned items = 0;
  for (; tiles_before > 0; --tiles_before) {
    said -= kDigits;
    Count word = 0;
    do word = *static_cast<const volatile Count*>(said);
    while (word >> kTagShift < tag);
    items += static_cast<unsigned>(word);
    if (word >> kTagShift > tag) break;
  }
  return items;
}

template <class T>
__global__ void __launch_bounds__(kScanThreads, 3) move_items(Rows<T> rows, SortPass<T> pass) {
  wait_for_earlier_kernels();
  using Key = SortKey<T>;
  static_assert(kDigits == kScanThreads, "a thread has a digit");
  __shared__ unsigned count[kScanWarps][kDigits];
  __shared__ Key space[kSortTile];
  __shared__ unsigned shift_to[kDigits];  // from a place in the sorted tile to one in the row
  __shared__ int64_t number;
  // Tiles are taken in turn, so that all before this one have been begun.
  if (threadIdx.x == 0) number = static_cast<int64_t>(atomicAdd(&pass.next_tile[pass.pass], 1));
  __syncthreads();
  const int64_t row_number = number / pass.tiles, tile = number - row_number * pass.tiles;
  const int64_t row = row_number * rows.n, begin = row + tile * kSortTile;
  const int items = static_cast<int>(::min(int64_t{kSortTile}, row + rows.n - begin));
  const unsigned moves =
      pass.passes_that_move(row_number, rows.n, sort_key(rows.x[row], rows.descending));
  if ((moves >> pass.pass & 1) == 0) return;
  const int moved = __popc(moves & ((1u << pass.pass) - 1));  // passes before
  const bool is_first = moved == 0, is_last = moves >> pass.pass == 1;
  const int shift = pass.pass * kDigitBits;

  Key key[kSortBatch];
  unsigned index[kSortBatch], to[kSortBatch];
  const auto load = [&](auto* item, auto behind, const auto& get) {
#pragma unroll
    for (int k = 0; k < kSortBatch; ++k) {
      const int place = place_in_tile(k);
      item[k] = place < items ? get(place) : behind;
    }
  };
  const auto* const x = rows.x + begin;
  const Key* const keys = pass.keys[moved & 1] + begin;
  if (is_first)
    load(key, ~Key{0}, [&](int place) { return sort_key(x[place], rows.descending); });
  else
    load(key, ~Key{0}, [&](int place) { return keys[place]; });
  const auto in_tile = order_by_digit(key, shift, kScanThreads, count, to);

  const Count tag = 2 * static_cast<Count>(pass.pass) + 1;
  Count* const mine = &pass.said[number * kDigits + threadIdx.x];
  *static_cast<volatile Count*>(mine) = (tile == 0 ? tag + 1 : tag) << kTagShift | in_tile.total;
  const auto first = static_cast<unsigned>(begin - row);
  const unsigned* const indices = pass.indices[moved & 1] + begin;
  if (is_first)
    load(index, 0u, [&](int place) { return first + static_cast<unsigned>(place); });
  else
    load(index, 0u, [&](int place) { return indices[place]; });
  exchange(to, key, space);
  exchange(to, index, space);
  const Count in_row = pass.counts[(row_number * pass.passes + pass.pass) * kDigits + threadIdx.x];
  const unsigned lower = scan_lanes(Counting{}, static_cast<unsigned>(in_row), kScanThreads).before;
  const unsigned before = look_back(mine, tile, tag);
  if (tile > 0)
    *static_cast<volatile Count*>(mine) = (tag + 1) << kTagShift | (before + in_tile.total);
  shift_to[threadIdx.x] = lower + before - in_tile.before;
  __syncthreads();

  const auto store = [&](const auto& put) {
#pragma unroll
    for (int k = 0; k < kSortBatch; ++k) {
      const int place = place_in_tile(k);
      if (place < items)
        put(shift_to[digit_of(key[k], shift)] + static_cast<unsigned>(place), key[k], index[k]);
    }
  };
  Key* const next_keys = pass.keys[~moved & 1] + row;
  unsigned* const next_indices = pass.indices[~moved & 1] + row;
  if (is_last)
    store([&](unsigned there, Key k, unsigned i) { rows.write(row, there, k, i); });
  else
    store(
        [&](unsigned there, Key k, unsigned i) { next_keys[there] = k, next_indices[there] = i; });
}

}  // namespace gradus::cuda
