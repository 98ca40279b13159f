// The first elements of each row in the order of sort, by radix selection: a search for the key of
// the last one of them, digit by digit from the highest on. A pass counts the elements that agree
// with the known digits by their next digit. See D. Knuth, The Art of Computer Programming 3,
// 5.3.3, for relatives. The search goes on in shared memory once the elements up to there fit into
// it. Then a few are sorted; where one element is wanted, those that agree with it.
//
// A long row is read once. A sample of it gives a bound that, most likely, has more than the wanted
// elements before it and few others. If it has not, the row itself is searched. Rows that fit as
// they are need no search of that kind: so are medians found, and the element that occurs most
// often.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/order/sort.cuh"

namespace gradus::cuda {

inline constexpr int kSelectThreads = 1024;
inline constexpr int kMostSelected = 1024;  // of a row
inline constexpr int kSelectItems = 2 * kMostSelected;
inline constexpr int kSample = 1024;          // elements of a long row
inline constexpr int kMostSampled = 1 << 17;  // of longer ones it bounds too many
inline constexpr int kFewSelected = 128;      // that are sorted where as few are wanted

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

// The state of a block in its search of element number `wanted`, from 1 on, among those that agree
// with the known digits of `last`.
template <class Key>
struct Search {
  Ranked<Key> last;
  unsigned wanted, agreeing;  // of how many
  unsigned found;             // that were gathered
  unsigned counts[kDigitCopies][kDigits];

  // REQUIRES: nobody reads it any more.
  __device__ void begin(unsigned number, unsigned of) {
    if (threadIdx.x == 0) last = {0, 0}, wanted = number, agreeing = of;
    __syncthreads();
  }
  // Finds digit `pass`. each(f) calls f of every element, in all threads of the block together.
  template <class Each>
  __device__ void narrow(int pass, const Each& each) {
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    for (int i = thread; i < kDigitCopies * kDigits; i += threads)
      counts[i / kDigits][i % kDigits] = 0;
    __syncthreads();
    each([&](const Ranked<Key>& element) {
      if (element.head(pass) == last)
        atomicAdd(&counts[thread % kDigitCopies][element.digit(pass)], 1u);
    });
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
  // Copies elements to `to`, which has room for `room`: those up to the ones that agree with
  // `last`, or only the latter. Returns how many there are.
  template <class Each>
  __device__ unsigned gather(int pass, bool alone, const Each& each, SortItem<Key>* to,
                             unsigned room) {
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const Ranked<Key> end = last;
    each([&](const Ranked<Key>& element) {
      const auto head = element.head(pass);
      if (alone ? !(head == end) : head.is_behind(end)) return;
      const unsigned place = atomicAdd(&found, 1u);
      if (place < room) to[place] = {element.key, element.index};
    });
    __syncthreads();
    return found;
  }
};

// f(element, its place) for those of a row, several of which each thread reads at once.
template <class T, class F>
__device__ void for_row(const T* x, int64_t n, const F& f) {
  constexpr int kBatch = 8;
  const int64_t threads = blockDim.x;
  int64_t i = threadIdx.x;
  for (; i + (kBatch - 1) * threads < n; i += kBatch * threads) {
    T some[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) some[k] = x[i + k * threads];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) f(some[k], i + k * threads);
  }
  for (; i < n; i += threads) f(x[i], i);
}

// The wanted elements of an order: `count` from `first` on, or the middle one, of the numbers alone
// or of all.
enum class Wanted { given, median, median_of_numbers };

// The place of the middle one of n elements, `numbers` of which are not NaN.
__device__ inline unsigned middle(Wanted wanted, unsigned n, unsigned numbers) {
  return wanted == Wanted::median && numbers < n ? numbers : (numbers > 0 ? numbers - 1 : 0) / 2;
}

// A row is cut into `parts`, and each has a block; the elements stand for those at `origin`, or
// null: for themselves. REQUIRES: a part has the wanted elements; first + count <= kMostSelected,
// or count is 1, and then parts is 1 unless first is 0.
template <class T>
__global__ void __launch_bounds__(kSelectThreads)
    select_in_rows(Rows<T> rows, int64_t parts, const int64_t* origin, Wanted which, int64_t first,
                   int count) {
  wait_for_earlier_kernels();
  using Key = SortKey<T>;
  __shared__ Search<Key> search;
  __shared__ SortItem<Key> items[kSelectItems], few[kFewSelected];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int64_t row = blockIdx.x / parts, part = blockIdx.x - row * parts;
  const int64_t begin = rows.n * part / parts, n = rows.n * (part + 1) / parts - begin;
  const T* const x = rows.x + row * rows.n + begin;
  if (which != Wanted::given) {
    if (thread == 0) search.found = 0;
    __syncthreads();
    unsigned numbers = 0;
    for_row(x, n, [&](T value, int64_t) { numbers += value == value; });
    if (numbers > 0) atomicAdd(&search.found, numbers);
    __syncthreads();
    first = middle(which, static_cast<unsigned>(n), search.found);
  }
  const auto total = static_cast<unsigned>(first + count), length = static_cast<unsigned>(n);
  const bool alone = count == 1 && total > kFewSelected / 2;  // only the last one

  unsigned size = 0;  // of items
  const auto of_row = [&](const auto& f) {
    for_row(x, n, [&](T value, int64_t i) {
      f(Ranked<Key>{sort_key(value, rows.descending), static_cast<unsigned>(i)});
    });
  };
  const auto of_items = [&](const auto& f) {
    for (int i = thread; i < static_cast<int>(size); i += threads)
      f(Ranked<Key>{items[i].key, static_cast<unsigned>(items[i].index)});
  };
  int pass = 0;
  bool gathered = false;
  if (n > 2 * kSelectItems && n <= kMostSampled && total <= kFewSelected) {
    // Warps read neighbours.
    const int64_t apart = n / (kSample / 32);
    for (int i = thread; i < kSample; i += threads)
      items[i] = {sort_key(x[i / 32 * apart + i % 32], rows.descending), static_cast<Key>(i)};
    size = kSample;
    // Twice as many as are wanted on the average, and 6: less than once in 1000 are there too few.
    const auto enough = static_cast<unsigned>(total * int64_t{kSample} / n) * 2 + 6;
    search.begin(enough, size);
    for (; enough - search.wanted + search.agreeing > 2 * enough; ++pass)
      search.narrow(pass, of_items);
    size = search.gather(pass, false, of_row, items, kSelectItems);
    gathered = total <= size && size <= kSelectItems;
    pass = 0;
  }
  if (!gathered) {
    search.begin(total, length);
    for (; (alone ? 0 : total - search.wanted) + search.agreeing > kSelectItems; ++pass)
      search.narrow(pass, of_row);
    size = search.gather(pass, alone, of_row, items, kSelectItems);
  } else {
    search.begin(total, size);
  }
  SortItem<Key>* sorted = items;
  if (size > kFewSelected && (alone || total <= kFewSelected / 2)) {
    for (; (alone ? 0 : total - search.wanted) + search.agreeing > kFewSelected; ++pass)
      search.narrow(pass, of_items);
    size = search.gather(pass, alone, of_items, few, kFewSelected);
    sorted = few;
  }
  int width = 1;
  while (width < static_cast<int>(size)) width *= 2;
  for (int i = static_cast<int>(size) + thread; i < width; i += threads)
    sorted[i] = {~Key{0}, ~Key{0}};
  const unsigned from = alone ? search.wanted - 1 : static_cast<unsigned>(first);
  sort_items(sorted, width, width);
  const int64_t to = int64_t{blockIdx.x} * count;
  for (int i = thread; i < count; i += threads) {
    const SortItem<Key> item = sorted[from + i];
    const int64_t place = begin + static_cast<int64_t>(item.index);
    rows.values[to + i] = sorted_value<T>(item.key, rows.descending, [&] { return x[item.index]; });
    rows.indices[to + i] = origin ? origin[row * rows.n + place] : place;
  }
}

// A block for each row of up to kSelectItems elements: the one that occurs most often, the smallest
// one of several, and its last place. NaN equals nothing.
template <class T>
__global__ void __launch_bounds__(kSelectThreads) mode_in_rows(Rows<T> rows) {
  wait_for_earlier_kernels();
  using Key = SortKey<T>;
  using Run =
      unsigned long long;  // its length, and 2^32 - 1 - its end, so that the largest is wanted
  __shared__ SortItem<Key> items[kSelectItems];
  __shared__ Run longest;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int n = static_cast<int>(rows.n);
  const T* const x = rows.x + int64_t{blockIdx.x} * n;
  int width = 1;
  while (width < n) width *= 2;
  for (int i = thread; i < width; i += threads)
    items[i] = {i < n ? sort_key(x[i], false) : ~Key{0}, static_cast<Key>(i)};
  if (thread == 0) longest = 0;
  sort_items(items, width, width);
  for (int end = thread; end < n; end += threads) {
    const Key key = items[end].key;
    const bool is_nan = std::is_floating_point_v<T> && key == ~Key{0};
    if (!is_nan && end + 1 < n && items[end + 1].key == key) continue;
    int before = is_nan ? end : 0;  // elements that come before the run
    for (int rest = end - before; rest > 0;) {
      const int half = rest / 2;
      const bool less = items[before + half].key < key;
      before += less ? half + 1 : 0;
      rest = less ? rest - half - 1 : half;
    }
    atomicMax(&longest, Run(end + 1 - before) << 32 | (~0u - static_cast<unsigned>(end)));
  }
  __syncthreads();
  if (thread > 0) return;
  const auto index = static_cast<int64_t>(items[~0u - static_cast<unsigned>(longest)].index);
  rows.values[blockIdx.x] = x[index];
  rows.indices[blockIdx.x] = index;
}

}  // namespace gradus::cuda
