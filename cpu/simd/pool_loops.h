// The loop of a max pool along a line of windows for each instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// T is float, double or int64_t.
template <class T>
struct PoolLoops {
  // Places, in as many bytes as an element has.
  using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

  // Goes over i < count, and then over e < elements. Where x[e][i * stride] is greater than most[i]
  // or NaN, most[i] becomes that number, and where[i] becomes places[e] + i * stride.
  void (*take)(int64_t count, int64_t stride, int64_t elements, const T* const* x,
               const Place* places, T* most, Place* where);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const PoolLoops& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
