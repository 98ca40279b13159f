// Sorting rows of pairs of a key (tensor/sort_key.h) and an index.
//
// Rows of up to kSortTile items: sort_short_rows, Batcher's bitonic network in shared memory
// (K. Batcher, Sorting networks and their applications, 1968). A network compares pairs of places
// that do not depend on the items, so every thread has the same to do. It is stable, for no two
// items of a row are equal: the index counts as the low half of the key.
//
// Longer rows: a radix sort, 8 bits a pass from the lowest on, which is right because each pass is
// stable. A row is cut into tiles. In a pass, count_digits counts how often each digit occurs in
// each tile; a scan of the counts, digit by digit and tile by tile, gives the place of the first
// item of each digit of each tile; and move_items brings each tile into order in shared memory and
// writes it there. So neighbouring threads write runs of neighbours, and not 256 places at once.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"
#include "gradus/tensor/sort_key.h"

namespace gradus::cuda {

inline constexpr int kSortBatch = 8;  // items of a thread
inline constexpr int kSortTile = kScanThreads * kSortBatch;
inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;
static_assert(kDigits == kScanThreads, "a thread has a digit of the tables");

// --- Short rows

template <class Word>
struct SortItem {
  Word key, index;
};
template <class Word>
__device__ bool operator<(const SortItem<Word>& a, const SortItem<Word>& b) {
  return a.key != b.key ? a.key < b.key : a.index < b.index;
}

// `width`, a power of two, is n or the next one above; kSortTile / width rows to a block. The
// places behind a row are filled with items that come after all others.
template <class T>
__global__ void __launch_bounds__(kScanThreads)
    sort_short_rows(int64_t rows, int n, int width, bool descending, const T* x, T* values,
                    int64_t* indices) {
  using Key = SortKey<T>;
  __shared__ SortItem<Key> items[kSortTile];
  const int64_t first_row = int64_t{blockIdx.x} * (kSortTile / width);
  const int count = static_cast<int>(::min(int64_t{kSortTile / width}, rows - first_row)) * width;
  x += first_row * n;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kScanThreads) {
    const int row = i / width, column = i & (width - 1);
    const Key key = column < n ? sort_key(x[row * n + column], descending) : ~Key{0};
    items[i] = {key, static_cast<Key>(column)};
  }
  // Runs of `size` items become sorted, up and down in turns; the last run, all of the row, up.
  for (int size = 2; size <= width; size *= 2)
    for (int reach = size / 2; reach > 0; reach /= 2) {
      __syncthreads();
      for (int pair = static_cast<int>(threadIdx.x); pair < count / 2; pair += kScanThreads) {
        const int low = 2 * pair - (pair & (reach - 1)), high = low + reach;
        const bool up = (low & (width - 1) & size) == 0;
        const SortItem<Key> a = items[low], b = items[high];
        if ((b < a) == up) items[low] = b, items[high] = a;
      }
    }
  __syncthreads();
  values += first_row * n;
  indices += first_row * n;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kScanThreads) {
    const int row = i / width, column = i & (width - 1);
    if (column >= n) continue;
    const int place = row * n + column, source = row * n + static_cast<int>(items[i].index);
    values[place] = sorted_value<T>(items[i].key, descending, [&] { return x[source]; });
    indices[place] = static_cast<int64_t>(items[i].index);
  }
}

// --- Long rows

template <class T, class Word>
__global__ void __launch_bounds__(kScanThreads)
    make_items(int64_t count, int64_t n, bool descending, const T* x, Word* keys, Word* indices) {
  const int64_t i = int64_t{blockIdx.x} * kScanThreads + threadIdx.x;
  if (i >= count) return;
  keys[i] = sort_key(x[i], descending);
  indices[i] = static_cast<Word>(i % n);
}

template <class T, class Word>
__global__ void __launch_bounds__(kScanThreads)
    read_items(int64_t count, int64_t n, bool descending, const T* x, const Word* keys,
               const Word* from, T* values, int64_t* indices) {
  const int64_t i = int64_t{blockIdx.x} * kScanThreads + threadIdx.x;
  if (i >= count) return;
  const auto index = static_cast<int64_t>(from[i]);
  values[i] = sorted_value<T>(static_cast<SortKey<T>>(keys[i]), descending,
                              [&] { return x[i - i % n + index]; });
  indices[i] = index;
}

// A tile of a row. Each warp has neighbouring items of it, and batch k of a warp is 32 neighbours.
struct SortTile {
  int64_t row_begin, begin;  // in all items; in the row
  int64_t row, tile, tiles;
  int count;  // items; fewer than kSortTile in the last tile of a row

  __device__ SortTile(int64_t n, int64_t tiles_of_row)
      : row(blockIdx.x / tiles_of_row), tile(blockIdx.x - row * tiles_of_row), tiles(tiles_of_row) {
    row_begin = row * n;
    begin = tile * kSortTile;
    count = static_cast<int>(::min(int64_t{kSortTile}, n - begin));
  }
  __device__ static int place(int k) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    return (warp * kSortBatch + k) * 32 + lane;
  }
  // The table has a count for each digit of each tile; those of a digit stand together.
  __device__ int64_t entry(unsigned digit) const { return (row * kDigits + digit) * tiles + tile; }
};

template <class Word>
__device__ unsigned digit_of(Word key, int shift) {
  return static_cast<unsigned>(key >> shift) & (kDigits - 1);
}

// The lanes of the warp with the same digit as this one.
__device__ inline unsigned lanes_with(unsigned digit) {
  unsigned same = 0xffffffffu;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; ++bit) {
    const bool set = digit >> bit & 1;
    const unsigned lanes = __ballot_sync(0xffffffffu, set);
    same &= set ? lanes : ~lanes;
  }
  return same;
}

// count[w][d]: the items of warp w with digit d; rank[k]: how many of them come before that of
// batch k of this thread. Behind the end of a row lie items of the highest digit: as they come
// last, they move none of the others. REQUIRES: a barrier before the counts are read.
template <class Word>
__device__ void count_in_warps(const Word (&key)[kSortBatch], int shift,
                               unsigned (&count)[kScanWarps][kDigits],
                               unsigned (&rank)[kSortBatch]) {
  const unsigned lane = threadIdx.x % 32;
  unsigned* const mine = count[threadIdx.x / 32];
  for (unsigned d = lane; d < kDigits; d += 32) mine[d] = 0;
  __syncwarp();
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) {
    const unsigned digit = digit_of(key[k], shift), same = lanes_with(digit);
    const auto before = static_cast<unsigned>(__popc(same & ((1u << lane) - 1)));
    const unsigned so_far = mine[digit];
    rank[k] = so_far + before;
    __syncwarp();
    if (before == 0) mine[digit] = so_far + static_cast<unsigned>(__popc(same));
    __syncwarp();
  }
}

template <class Word>
__device__ void load_keys(const SortTile& tile, const Word* keys, Word (&key)[kSortBatch]) {
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) {
    const int place = SortTile::place(k);
    key[k] = place < tile.count ? keys[tile.row_begin + tile.begin + place] : ~Word{0};
  }
}

template <class Word>
__global__ void __launch_bounds__(kScanThreads)
    count_digits(int64_t n, int64_t tiles, int shift, const Word* keys, int64_t* table) {
  __shared__ unsigned count[kScanWarps][kDigits];
  const SortTile tile(n, tiles);
  Word key[kSortBatch];
  unsigned rank[kSortBatch];
  load_keys(tile, keys, key);
  count_in_warps(key, shift, count, rank);
  __syncthreads();
  unsigned total = 0;
  for (int w = 0; w < kScanWarps; ++w) total += count[w][threadIdx.x];
  table[tile.entry(threadIdx.x)] = total;
}

// table: its counts, summed up to each entry and including it.
template <class Word>
__global__ void __launch_bounds__(kScanThreads)
    move_items(int64_t n, int64_t tiles, int shift, const int64_t* table, const Word* keys,
               const Word* indices, Word* keys_out, Word* indices_out) {
  __shared__ unsigned count[kScanWarps][kDigits];
  __shared__ Word sorted_keys[kSortTile], sorted_indices[kSortTile];
  __shared__ int64_t shift_to[kDigits];  // from a place in the sorted tile to one in all items
  const SortTile tile(n, tiles);
  Word key[kSortBatch];
  unsigned rank[kSortBatch];
  load_keys(tile, keys, key);
  count_in_warps(key, shift, count, rank);
  __syncthreads();

  // Thread d turns the counts of digit d into places in the sorted tile.
  unsigned total = 0;
  for (int w = 0; w < kScanWarps; ++w) {
    const unsigned of_warp = count[w][threadIdx.x];
    count[w][threadIdx.x] = total;
    total += of_warp;
  }
  const unsigned begin = scan_lanes(Counting{}, total, kScanThreads).before;
  for (int w = 0; w < kScanWarps; ++w) count[w][threadIdx.x] += begin;
  shift_to[threadIdx.x] = tile.row_begin + table[tile.entry(threadIdx.x)] - total - begin;
  __syncthreads();

#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) {
    const int place = SortTile::place(k);
    if (place >= tile.count) continue;
    const unsigned to = count[threadIdx.x / 32][digit_of(key[k], shift)] + rank[k];
    sorted_keys[to] = key[k];
    sorted_indices[to] = indices[tile.row_begin + tile.begin + place];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < tile.count; i += kScanThreads) {
    const int64_t to = shift_to[digit_of(sorted_keys[i], shift)] + i;
    keys_out[to] = sorted_keys[i];
    indices_out[to] = sorted_indices[i];
  }
}

}  // namespace gradus::cuda
