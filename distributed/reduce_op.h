// How all_reduce and its like combine the elements of all ranks.
#pragma once

#include <cstdint>
#include <string>

#include "gradus/tensor/table/ops.h"

namespace gradus::distributed {

// SUM of bools is their disjunction. AVG is the sum divided by the number of ranks.
enum class ReduceOp : uint8_t { SUM, AVG, MIN, MAX, PRODUCT };

inline const char* name_of(ReduceOp op) {
  constexpr const char* names[] = {"SUM", "AVG", "MIN", "MAX", "PRODUCT"};
  return names[static_cast<size_t>(op)];
}
inline void append(std::string& out, ReduceOp op) { out += name_of(op); }

}  // namespace gradus::distributed
