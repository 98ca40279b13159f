// Operations that change a tensor in place, and what that means for its history.
//
// A tensor that is not a view takes the history of its new value. A view has no history of its own.
// The history of its base becomes "the old base, with the view's elements from the new value".
// Every view of that base gets a new history when it is next used; that one reads the view out of
// the base.
#pragma once

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// Errors: Error where elements of x share memory, or where x is an inference tensor outside of
// InferenceMode. A change that `records` is also refused where x is a leaf that requires grad, a
// view of one, or a view that must not be changed.
void check_in_place(const char* op, const Tensor& x, bool records);
// The same for changes of the geometry, which elements that share memory allow.
void check_history(const char* op, const Tensor& x, bool records);
// How x lies and its history may change next: kept for a call that may be undone
// (tensor/batching/undo.h).
void before_change_of_handle(const Tensor& x);
// Errors: Error where x is a view whose creation_meta forbids changes in place. `changed` says in
// the message what was changed.
void check_view_origin(const Tensor& x, const char* changed);
// Copies the result of op into x. Errors: ValueError where it has another shape than x, TypeError
// where its dtype is of a higher kind.
void assign(const char* op, const Tensor& x, const Tensor& result);
// The same, and x takes the result's history.
void adopt(const char* op, const Tensor& x, const Tensor& result);
// Records in the history of the base that the elements of `view` now come from `value`; an invalid
// edge means that they have no history. REQUIRES: the caller bumps the version afterwards.
void record_view_change(const Tensor& view, Edge value);
// A copy of x with its old value and its layout, which a recorded operation may read and keep while
// x changes.
Tensor old_value(const Tensor& x);

// direct(x) changes x. Where the graph must know of the change, recorded(old) computes the new
// value from a copy of the old one instead.
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

// Changes x as in_place does, without copies. record(x) gives x, which has changed, its history.
// REQUIRES: x is no view; the derivative does not read the old value of x.
template <class Direct, class Record>
Tensor& in_place_at_once(const char* op, const Tensor& self, Direct direct, Record record) {
  Tensor& x = self.handle();
  check_in_place(op, x, true);
  direct(x);
  x.impl().storage->bump_version();
  record(x);
  return x;
}

}  // namespace gradus
