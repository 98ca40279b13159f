// One entry of a timeline.
#pragma once

#include <cstddef>

namespace gradus::nn::parallel {

// phase: "scatter" (changed parameters and the part of the batch are copied to the replica),
// "forward", "gather" (the first replica joins the results), "backward", "reduce" (a neighbour's
// gradients are added to the replica's own). begin, end: seconds since the timeline began.
struct TimelineSpan {
  const char* phase;
  size_t replica;
  double begin, end;
};

}  // namespace gradus::nn::parallel
