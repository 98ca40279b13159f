// Operations that change a tensor in place, and what that means for its history.
//
// The history of a tensor that is no view becomes that of its new value. A view has none of its
// own: the history of its base becomes "the old base, with the view's elements from the new value",
// and every view of that base is read out of it again when it is next used.
#pragma once

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// Errors: Error where elements of x share memory; where x is an inference tensor outside of
// InferenceMode; and, where the change `records`, where x is a leaf that requires grad, a view of
// one, or a view that must not be changed.
void check_in_place(const char* op, const Tensor& x, bool records);
// The same but for elements that share memory: for changes of the geometry.
void check_history(const char* op, const Tensor& x, bool records);
// Errors: Error where x is a view whose origin forbids that `changed` (what has been) in place.
void check_view_origin(const Tensor& x, const char* changed);
// Gives x the values of the result of op. Errors: ValueError or TypeError where that has another
// shape than x, or a dtype of a higher kind.
void assign(const char* op, const Tensor& x, const Tensor& result);
// The same, and the history.
void adopt(const char* op, const Tensor& x, const Tensor& result);
// Records that the elements of `view` come from `value` (an invalid edge: from nowhere), in the
// history of the base. REQUIRES: the version is bumped afterwards.
void record_view_change(const Tensor& view, Edge value);
// x with its old value: what a recorded operation reads, and may keep, while x changes.
Tensor old_value(const Tensor& x);

// direct(x) changes x; recorded(old) computes the new value from a copy of the old one, and is used
// where the graph must know.
template <class Direct, class Recorded>
Tensor& in_place(const char* op, const Tensor& self, bool records, Direct direct,
                 Recorded recorded) {
  Tensor& x = self.handle();
  check_in_place(op, x, records);
  if (records) {
    adopt(op, x, recorded(old_value(x)));
  } else {
    direct(x);
    x.impl().storage->bump_version();
  }
  return x;
}

}  // namespace gradus
