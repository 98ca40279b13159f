// How the numbers of an index tensor are read, for host and device.
#pragma once

#include <cstdint>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/host_device.h"

namespace gradus {

// Indexes a dimension of `size` elements. `wraps`: a negative number counts from the end.
struct IndexRule {
  const char* op;  // named in errors: text of the host that outlives every kernel that may report
  int64_t dim;     // as the caller of op counts dimensions
  int64_t size;
  bool wraps = false;

  GRADUS_HD constexpr int64_t place(int64_t number) const {
    return number + (number < 0 && wraps ? size : 0);
  }
  GRADUS_HD constexpr bool allows(int64_t number) const {
    return static_cast<uint64_t>(place(number)) < static_cast<uint64_t>(size);  // 0 <= place too
  }
};

// Throws the error for a number that the rule does not allow; `where` says more of the place.
template <class... Where>
[[noreturn]] void fail_index(const IndexRule& rule, int64_t number, const Where&... where) {
  if (rule.size == 0)
    fail<IndexError>(rule.op, ": index ", number, " is out of bounds for dimension ", rule.dim,
                     " with size 0, which has no place; give an empty index", where...);
  fail<IndexError>(rule.op, ": index ", number, " is out of bounds for dimension ", rule.dim,
                   " with size ", rule.size, "; expected ", rule.wraps ? -rule.size : 0,
                   " <= index < ", rule.size, where...);
}

}  // namespace gradus
