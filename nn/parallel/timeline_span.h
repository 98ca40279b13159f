// One entry of a timeline.
#pragma once

#include <cstddef>

namespace gradus::nn::parallel {

// phase: "scatter" (parameters that have changed, and the part of the batch, on their way to the
// replica), "forward", "gather" (of the results, by the first replica), "backward", "reduce" (the
// sum of a neighbour's gradients and the replica's own). Seconds since the timeline began.
struct TimelineSpan {
  const char* phase;
  size_t replica;
  double begin, end;
};

}  // namespace gradus::nn::parallel
