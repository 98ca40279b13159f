// The innermost loops of reductions, over elements that lie one after the other in memory.
// All instruction sets fold in one order, so that their results agree bit for bit.
#pragma once

#include "gradus/cpu/instruction_set.h"
#include "gradus/tensor/table/ops.h"

namespace gradus::cpu {

// A row of reductions.def on one type; null where it is not computed in that.
template <class T>
struct Folds {
  T start;  // of nothing
  // out[i] = the fold of n elements from x + i * apart on, for `count` of them.
  void (*runs)(int64_t count, const T* x, int64_t apart, int64_t n, T* out);
  // Folds n rows of `width` elements, `step` apart, into the row `out`. Each column is folded for
  // itself, in an order that depends on n alone.
  void (*columns)(int64_t width, const T* x, int64_t step, int64_t n, T* out);
  // Makes results of folds of n elements.
  void (*finish)(int64_t count, int64_t n, T* folds);
};

// Finds the largest or the smallest element and its first index; NaN counts as most extreme.
// REQUIRES: n > 0.
template <class T>
struct Searches {
  // The extreme of n elements from x + i * apart on, for each i < `count`.
  void (*runs)(int64_t count, const T* x, int64_t apart, int64_t n, T* values, int64_t* indices);
  // The extreme of each column of n rows of `width` elements, `step` apart.
  void (*columns)(int64_t width, const T* x, int64_t step, int64_t n, T* values, int64_t* indices);
};

inline constexpr int kReduceOps = 0
#define REDUCTION(...) +1
#include "gradus/tensor/table/reductions.def"
    ;

// All of one type: float, double, or an integer that tensors hold.
template <class T>
struct FoldTable {
  Folds<T> folds[kReduceOps];
  Searches<T> largest, smallest;
  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const FoldTable& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
