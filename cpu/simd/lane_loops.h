// Elements of lines in memory to lanes side by side, and back.
#pragma once

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// An element is `width` numbers in turn: 1 is a real number, 2 are the parts of a complex one.
// Number p of element j of lane q lies at parts[p][j * lanes + q].
template <class T>
struct LaneLoops {
  // Between `lanes` lines, whose elements follow each other from lines[q] + offset on.
  void (*load_lines)(int width, const T* const* lines, int64_t offset, int64_t lanes, int64_t count,
                     T* const* parts);
  void (*store_lines)(int width, T* const* lines, int64_t offset, int64_t lanes, int64_t count,
                      T scale, const T* const* parts);
  // Between `neighbours` lines side by side, whose elements are `step` numbers apart.
  void (*load_rows)(int width, const T* rows, int64_t step, int64_t neighbours, int64_t lanes,
                    int64_t count, T* const* parts);
  void (*store_rows)(int width, T* rows, int64_t step, int64_t neighbours, int64_t lanes,
                     int64_t count, T scale, const T* const* parts);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const LaneLoops& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
