// A line search for a step that lowers a function enough and flattens it enough.
#pragma once

#include <functional>

#include "gradus/tensor/tensor.h"

namespace gradus::optim {

// A function along a line: its value at `t`, its slope there, and its gradient.
struct LinePoint {
  double t, value, slope;
  Tensor gradient;
};

// Finds a point that satisfies the strong Wolfe conditions with c1 = 1e-4 and c2 = 0.9, from the
// guess `t` on. See Nocedal and Wright, "Numerical optimization" (2006), algorithms 3.5 and 3.6;
// the safeguards are PyTorch's. Returns the best point so far after `most` tries, or where the
// bracket is shorter than `least`. `start` is the point at 0.
LinePoint strong_wolfe(const std::function<LinePoint(double t)>& evaluate, const LinePoint& start,
                       double t, double least, int64_t most);

}  // namespace gradus::optim
