// Random elements, many at a time.
#pragma once

#include <cstddef>

#include "gradus/cpu/instruction_set.h"
#include "gradus/tensor/backend.h"

namespace gradus::cpu {

// Elements that are drawn at once.
inline constexpr int64_t kPiece = 256;

// Where drawn elements go: `count` of them, from element `first` of a draw on.
struct DrawnRun {
  PhiloxState state;
  int64_t first, count;  // `first` is a multiple of kPiece
  ScalarType dtype;
  std::byte* out;       // element `first`
  const std::byte* in;  // the same of what elements are drawn by; may be `out`
};

struct Draws {
  // Backend::random and random_map.
  void (*random)(Distribution kind, const Scalar& a, const Scalar& b, const DrawnRun& run);
  void (*random_map)(RandomMap op, double number, const DrawnRun& run);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const Draws& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
