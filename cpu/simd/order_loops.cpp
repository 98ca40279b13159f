// The loops of selections and running extremes for one instruction set.
#include "gradus/cpu/simd/order_loops.h"

#include "gradus/cpu/simd/set.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace gradus::cpu::GRADUS_SET {

// Elements whose keys are made at once, and those of them that are looked at together.
inline constexpr int64_t kBlock = 512, kGroup = 32;

template <class T>
GRADUS_TARGET void keys(int64_t n, const T* x, bool descending, SortKey<T>* keys) {
  if (descending)
    for (int64_t i = 0; i < n; ++i) keys[i] = sort_key(x[i], true);
  else
    for (int64_t i = 0; i < n; ++i) keys[i] = sort_key(x[i], false);
}

template <class T>
GRADUS_TARGET KeyRange<SortKey<T>> all_keys(int64_t n, const T* x, bool descending,
                                            SortKey<T>* out) {
  keys<T>(n, x, descending, out);
  KeyRange<SortKey<T>> range = {out[0], out[0]};
  for (int64_t i = 1; i < n; ++i) {
    range.least = std::min(range.least, out[i]);
    range.most = std::max(range.most, out[i]);
  }
  return range;
}

template <class T>
GRADUS_TARGET KeyCounts count(int64_t n, const T* x, bool descending, KeyRange<SortKey<T>> range) {
  using Key = SortKey<T>;
  KeyCounts counts{};
  Key block[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t some = std::min(kBlock, n - begin);
    keys<T>(some, x + begin, descending, block);
    Key below = 0, within = 0;
    for (int64_t i = 0; i < some; ++i) {
      below += block[i] < range.least;
      within += block[i] - range.least <= range.most - range.least;
    }
    counts.below += static_cast<int64_t>(below);
    counts.within += static_cast<int64_t>(within);
  }
  return counts;
}

// Whether one of the keys is in the range.
template <class Key>
GRADUS_TARGET bool any_of(const Key* keys, KeyRange<Key> range) {
  Key any = 0;
  for (int64_t i = 0; i < kGroup; ++i) any |= keys[i] - range.least <= range.most - range.least;
  return any != 0;
}

// A buffer takes the result, for put() writes one item too many: so there is no branch to be
// guessed wrong.
template <class T>
GRADUS_TARGET Item<SortKey<T>>* collect(int64_t n, const T* x, bool descending,
                                        KeyRange<SortKey<T>> range, SortKey<T> first,
                                        Item<SortKey<T>>* out) {
  using Key = SortKey<T>;
  Key block[kBlock];
  Item<Key> found[kGroup + 1];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t some = std::min(kBlock, n - begin);
    keys<T>(some, x + begin, descending, block);
    for (int64_t i = 0; i < some; i += kGroup) {
      const int64_t end = std::min(i + kGroup, some);
      if (end == i + kGroup && !any_of(block + i, range)) continue;
      int64_t count = 0;
      for (int64_t k = i; k < end; ++k) {
        found[count] = {block[k], static_cast<Key>(first + static_cast<Key>(begin + k))};
        count += range.holds(block[k]);
      }
      std::memcpy(out, found, static_cast<size_t>(count) * sizeof(Item<Key>));
      out += count;
    }
  }
  return out;
}

// Each item goes behind those that belong before it, which are counted without a branch.
template <class Key>
GRADUS_TARGET void sort_few(int64_t n, Item<Key>* items) {
  // 16 bytes cannot be compared as integers of 64 bits.
  constexpr int64_t kMost = GRADUS_VECTOR == 16 && sizeof(Key) == 8 ? 16 : kFewItems;
  if (n < 8 || n > kMost) {
    std::sort(items, items + n, [](const Item<Key>& a, const Item<Key>& b) {
      return a.key != b.key ? a.key < b.key : a.index < b.index;
    });
    return;
  }
  typedef Key Lanes __attribute__((vector_size(GRADUS_VECTOR)));
  constexpr int64_t kLanes = sizeof(Lanes) / sizeof(Key);
  Item<Key> unordered[kFewItems];
  Key keys[kFewItems] = {}, before[kFewItems];
  std::memcpy(unordered, items, static_cast<size_t>(n) * sizeof(Item<Key>));
  for (int64_t i = 0; i < n; ++i) keys[i] = items[i].key;
  for (int64_t first = 0; first < n; first += kLanes) {
    Lanes own, less = {};
    std::memcpy(&own, keys + first, sizeof(Lanes));
    for (int64_t k = 0; k < n; ++k) less -= reinterpret_cast<Lanes>(keys[k] < own);
    std::memcpy(before + first, &less, sizeof(Lanes));
  }
  // Different keys have all places; of equal ones the first comes first.
  const auto count = static_cast<Key>(n);
  if (std::accumulate(before, before + n, Key{0}) != count * (count - 1) / 2)
    for (Key k = 0; k < count; ++k)
      for (Key i = k + 1; i < count; ++i) before[i] += keys[k] == keys[i];
  for (int64_t i = 0; i < n; ++i) items[before[i]] = unordered[i];
}

// Few are kept, in order: a new one moves those that are greater.
template <class T>
GRADUS_TARGET int64_t least(int64_t n, const T* x, bool descending, int64_t wanted,
                            SortKey<T> first, Item<SortKey<T>>* out) {
  using Key = SortKey<T>;
  Key block[kBlock];
  int64_t held = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t some = std::min(kBlock, n - begin);
    keys<T>(some, x + begin, descending, block);
    for (int64_t i = 0; i < some; i += kGroup) {
      const int64_t end = std::min(i + kGroup, some);
      // Nothing is less than a limit of 0.
      if (held == wanted && end == i + kGroup &&
          (out[held - 1].key == 0 || !any_of(block + i, {0, out[held - 1].key - 1})))
        continue;
      for (int64_t k = i; k < end; ++k) {
        if (held == wanted && block[k] >= out[held - 1].key) continue;
        int64_t place = held == wanted ? held - 1 : held++;
        for (; place > 0 && out[place - 1].key > block[k]; --place) out[place] = out[place - 1];
        out[place] = {block[k], static_cast<Key>(first + static_cast<Key>(begin + k))};
      }
    }
  }
  return held;
}

template <bool largest, class T>
GRADUS_TARGET bool wins(T x, T best) {
  return (largest ? x >= best : x <= best) | (x != x);
}

// Groups in which nothing wins, as are most of them unless the elements rise, are filled at once.
template <bool largest, class T>
GRADUS_TARGET void running(int64_t n, const T* x, T* values, int64_t* indices) {
  T best = x[0];
  int64_t place = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t end = std::min(i + kGroup, n);
    SortKey<T> any = end < i + kGroup;
    if (!any)
      for (int64_t k = 0; k < kGroup; ++k) any |= wins<largest>(x[i + k], best);
    if (any) {
      for (; i < end; ++i) {
        if (wins<largest>(x[i], best)) best = x[i], place = i;
        values[i] = best, indices[i] = place;
      }
    } else {
      for (int64_t k = 0; k < kGroup; ++k) values[i + k] = best;
      for (int64_t k = 0; k < kGroup; ++k) indices[i + k] = place;
      i = end;
    }
  }
}

}  // namespace gradus::cpu::GRADUS_SET

namespace gradus::cpu {

template <class T>
const OrderLoops<T>& OrderLoops<T>::GRADUS_SET() {
  namespace set = cpu::GRADUS_SET;
  static constexpr OrderLoops loops = {set::all_keys<T>,      set::count<T>, set::collect<T>,
                                       set::sort_few<Key>,    set::least<T>, set::running<true, T>,
                                       set::running<false, T>};
  return loops;
}
template const OrderLoops<float>& OrderLoops<float>::GRADUS_SET();
template const OrderLoops<double>& OrderLoops<double>::GRADUS_SET();
template const OrderLoops<int64_t>& OrderLoops<int64_t>::GRADUS_SET();

}  // namespace gradus::cpu
