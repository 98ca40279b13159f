// The innermost loops of what compares elements along a line: selections and running
// extremes. All of them are exact, so that all instruction sets give the same.
#pragma once

#include "gradus/cpu/instruction_set.h"
#include "gradus/tensor/math/sort_key.h"

namespace gradus::cpu {

// An element of a line by its key, and where it stands.
template <class Word>
struct Item {
  Word key, index;
};

// Keys from `least` to `most`.
template <class Key>
struct KeyRange {
  Key least, most;
  bool holds(Key key) const { return key - least <= most - least; }
};
// Items up to here are ordered by comparisons, which is quicker than several passes over all
// digits.
inline constexpr int64_t kFewItems = 64;

// How many keys of a line are below a range, and within it.
struct KeyCounts {
  int64_t below, within;
};

// Functions of n elements from x on, which lie one after the other. T is int64_t, float or double.
template <class T>
struct OrderLoops {
  using Key = SortKey<T>;

  // Writes the keys; returns the range from the least to the greatest one. REQUIRES: n > 0.
  KeyRange<Key> (*keys)(int64_t n, const T* x, bool descending, Key* keys);
  KeyCounts (*count)(int64_t n, const T* x, bool descending, KeyRange<Key> range);
  // The items of the range, in the order of the elements; `first` is the index of x[0]. Returns
  // behind the last.
  Item<Key>* (*collect)(int64_t n, const T* x, bool descending, KeyRange<Key> range, Key first,
                        Item<Key>* out);
  // Sorts n <= kFewItems items by their keys, stably. REQUIRES: their indices rise.
  void (*sort_few)(int64_t n, Item<Key>* items);
  // The `wanted` least keys, in order, of equal ones the first. Returns how many there are.
  int64_t (*least)(int64_t n, const T* x, bool descending, int64_t wanted, Key first,
                   Item<Key>* out);
  // The largest (or smallest) element so far and its last index; NaN counts as most extreme.
  // REQUIRES: n > 0.
  void (*running_most)(int64_t n, const T* x, T* values, int64_t* indices);
  void (*running_least)(int64_t n, const T* x, T* values, int64_t* indices);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const OrderLoops& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
