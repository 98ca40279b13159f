// The functions that a scan folds with, for host and device: the rows of scans.def, and extremes
// with their index. Each has a State, and `combine(a, b)`, where the elements behind a come before
// those behind b.
#pragma once

#include "gradus/tensor/math/elementwise.h"

namespace gradus {

template <ScanOp op, class T>
struct Fold {
  // Floating point numbers are folded in double; integers without a sign, so that they wrap around.
  using State = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  static constexpr bool indexed = false;

  GRADUS_HD static State start() { return scalar::Scan<op>::template start<State>(); }
  GRADUS_HD static State enter(T x, int64_t) { return static_cast<State>(x); }
  GRADUS_HD static State combine(State a, State b) { return scalar::Scan<op>::combine(a, b); }
  GRADUS_HD static T value(State s) { return static_cast<T>(s); }
};

template <class T>
struct Candidate {
  T value;
  int64_t index;  // -1 before the first element
};

// The most extreme element so far. NaN is more extreme than any number; of equal elements the last
// one wins.
template <class T>
struct Extreme {
  using State = Candidate<T>;
  static constexpr bool indexed = true;
  bool largest;

  GRADUS_HD State start() const {
    return {largest ? scalar::least<T>() : scalar::greatest<T>(), -1};
  }
  GRADUS_HD static State enter(T x, int64_t i) { return {x, i}; }
  GRADUS_HD State combine(State a, State b) const {
    const bool wins = b.value != b.value || (largest ? b.value >= a.value : b.value <= a.value);
    return wins && b.index >= 0 ? b : a;
  }
  GRADUS_HD static T value(State s) { return s.value; }
};

}  // namespace gradus
