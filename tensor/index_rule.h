// How the numbers of an index tensor are read, for host and device.
#pragma once

#include <cstdint>

#include "gradus/tensor/host_device.h"

namespace gradus {

// Along a dimension of `size`. A negative number counts from the end where `wraps`.
struct IndexRule {
  const char* op;  // is named in errors; outlives every kernel that may report one
  int64_t dim;     // as the caller of op counts dimensions
  int64_t size;
  bool wraps = false;

  GRADUS_HD constexpr int64_t place(int64_t number) const {
    return wraps && number < 0 ? number + size : number;
  }
  GRADUS_HD constexpr bool allows(int64_t number) const {
    return place(number) >= 0 && place(number) < size;
  }
};

// How scatter puts a number to the one that is there.
enum class ScatterOp : uint8_t { set, sum, prod, amax, amin };

}  // namespace gradus
