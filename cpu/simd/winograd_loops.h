// The loops around the products of Winograd's convolutions (cpu/convolution/winograd.cpp): what
// brings tiles and weights to their 16 points, and back.
#pragma once

#include <cstdint>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// Tiles lie side by side, two elements apart. The second line begins `odd` elements behind the
// first. The third and the fourth begin `below` behind these. The last two columns of a tile lie
// `right` behind its first two.
struct TileLines {
  int64_t odd, below, right;
};

// Points of tiles lie side by side on out + t * point, for t < 16. Tiles come in whole vectors, of
// up to kLanes: what is read and written beyond the last one has no meaning.
struct WinogradLoops {
  static constexpr int64_t kLanes = 16, kPoints = 16;

  // Tiles of 4 x 4 elements of an input, or of 2 x 2 elements of the gradient of an output.
  void (*input)(int64_t tiles, const float* x, const TileLines& at, float* out, int64_t point);
  void (*grad)(int64_t tiles, const float* x, const TileLines& at, float* out, int64_t point);
  // The 2 x 2 elements of an output, in two lines.
  void (*output)(int64_t tiles, const float* from, int64_t point, float bias, float* x,
                 int64_t row);

  // The points of `count` weights of 3 x 3, `step` elements apart and perhaps turned round: `count`
  // of each point.
  void (*weight)(int64_t count, const float* weight, int64_t step, bool turned, float* out,
                 int64_t point);
  // The gradients of `count` weights, side by side, of points that are sums of `parts`.
  void (*weight_grad)(int64_t count, const float* from, int64_t point, int64_t parts, int64_t part,
                      float* weight);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const WinogradLoops& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
