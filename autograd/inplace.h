// Operations that change a tensor in place, and what that means for its history.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {

// Errors: Error where x is a leaf that requires grad, or a view of one, and the graph is recorded;
// NotImplementedError where `records` and x is a view.
void check_in_place(const char* op, const Tensor& x, bool records);
// Gives x the values and the history of `result`, which has its shape and dtype.
void adopt(const Tensor& x, const Tensor& result);

// direct(x) changes x; recorded(old) computes the new value from a copy of the old one, and is used
// where the graph must know.
template <class Direct, class Recorded>
Tensor& in_place(const char* op, Tensor& x, bool records, Direct direct, Recorded recorded) {
  check_in_place(op, x, records);
  if (records) {
    adopt(x, recorded(x.clone()));
  } else {
    direct(x);
    x.impl().storage->bump_version();
  }
  return x;
}

}  // namespace gradus
