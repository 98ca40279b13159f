// The first of each row's elements in the order of sort, by a search for the key of the last one
// of them: digit by digit from the highest on, the elements that agree with what is known of it are
// counted by their next digit (radix selection; D. Knuth, The Art of Computer Programming 3, 5.3.3,
// has its relatives). It ends once those up to there fit into shared memory, where they are sorted.
#pragma once

#include "gradus/cuda/kernels/sort.cuh"

namespace gradus::cuda {

inline constexpr int kSelectThreads = 1024;
inline constexpr int kMostSelected = 1024;  // of a row
inline constexpr int kSelectItems = 2 * kMostSelected;

// A key and the index as its lower digits, so that no two of a row are equal.
template <class Key>
struct Ranked {
  static constexpr int kPasses = static_cast<int>(sizeof(Key)) + 4;
  Key key;
  unsigned index;

  // Digit `pass` from the highest on.
  __device__ unsigned digit(int pass) const {
    const int shift = 8 * (kPasses - 1 - pass);
    return shift >= 32 ? digit_of(key, shift - 32) : digit_of(index, shift);
  }
  // The digits of the passes before, and nothing of the others.
  __device__ Ranked head(int passes) const {
    const int bits = 8 * (kPasses - passes);  // that are left out
    if (bits <= 32) return {key, bits == 32 ? 0 : index >> bits << bits};
    return {bits - 32 == 8 * static_cast<int>(sizeof(Key)) ? 0 : key >> (bits - 32) << (bits - 32),
            0};
  }
  __device__ void append(int pass, unsigned digit) {
    const int shift = 8 * (kPasses - 1 - pass);
    if (shift >= 32)
      key |= static_cast<Key>(digit) << (shift - 32);
    else
      index |= digit << shift;
  }
  __device__ bool operator==(const Ranked&) const = default;
  __device__ bool is_behind(const Ranked& other) const {
    return key != other.key ? key > other.key : index > other.index;
  }
};

// A block for each row. Its results are the elements `first` to first + count - 1 of the order.
// REQUIRES: first + count <= kMostSelected, and <= rows.n.
template <class T>
__global__ void __launch_bounds__(kSelectThreads)
    select_in_rows(Rows<T> rows, int first, int count) {
  using Key = SortKey<T>;
  __shared__ SortItem<Key> items[kSelectItems];
  __shared__ unsigned counts[kDigitCopies][kDigits];
  __shared__ Ranked<Key> last;   // as far as it is known
  __shared__ unsigned wanted;    // elements of those that agree with it
  __shared__ unsigned agreeing;  // elements that agree with it
  __shared__ unsigned found;
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t row = int64_t{blockIdx.x} * rows.n;
  const T* const x = rows.x + row;
  const auto ranked = [&](int64_t i) {
    return Ranked<Key>{sort_key(x[i], rows.descending), static_cast<unsigned>(i)};
  };
  const auto total = static_cast<unsigned>(first + count);
  if (thread == 0)
    last = {0, 0}, wanted = total, agreeing = static_cast<unsigned>(rows.n), found = 0;
  __syncthreads();

  int pass = 0;
  for (; total - wanted + agreeing > kSelectItems; ++pass) {
    for (int i = thread; i < kDigitCopies * kDigits; i += kSelectThreads)
      counts[i / kDigits][i % kDigits] = 0;
    __syncthreads();
    for (int64_t i = thread; i < rows.n; i += kSelectThreads) {
      const auto each = ranked(i);
      if (each.head(pass) == last) atomicAdd(&counts[thread % kDigitCopies][each.digit(pass)], 1u);
    }
    __syncthreads();
    // The first warp, whose lanes have 8 digits each, finds the digit of the wanted element.
    if (thread < 32) {
      constexpr int kOfLane = kDigits / 32;
      unsigned of_digit[kOfLane], sum = 0;
      for (int d = 0; d < kOfLane; ++d) {
        of_digit[d] = 0;
        for (const auto& copy : counts) of_digit[d] += copy[thread * kOfLane + d];
        sum += of_digit[d];
      }
      unsigned before = scan_warp(Counting{}, sum, 32).before;
      const unsigned to_find = wanted;
      __syncwarp();
      for (int d = 0; d < kOfLane; before += of_digit[d++])
        if (before < to_find && to_find <= before + of_digit[d]) {
          last.append(pass, static_cast<unsigned>(thread * kOfLane + d));
          wanted = to_find - before;
          agreeing = of_digit[d];
        }
    }
    __syncthreads();
  }

  const unsigned size = total - wanted + agreeing;
  int width = 1;
  while (width < static_cast<int>(size)) width *= 2;
  for (int i = thread; i < width; i += kSelectThreads) items[i] = {~Key{0}, ~Key{0}};
  __syncthreads();
  for (int64_t i = thread; i < rows.n; i += kSelectThreads) {
    const auto each = ranked(i);
    if (!each.head(pass).is_behind(last)) items[atomicAdd(&found, 1u)] = {each.key, each.index};
  }
  sort_items(items, width, width);
  const int64_t to = int64_t{blockIdx.x} * count;
  for (int i = thread; i < count; i += kSelectThreads) {
    const SortItem<Key> item = items[first + i];
    rows.values[to + i] = sorted_value<T>(item.key, rows.descending, [&] { return x[item.index]; });
    rows.indices[to + i] = static_cast<int64_t>(item.index);
  }
}

}  // namespace gradus::cuda
