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

// A point that satisfies the strong Wolfe conditions with c1 = 1e-4 and c2 = 0.9, beginning with
// the guess `t`: Nocedal and Wright, "Numerical optimization" (2006), algorithms 3.5 and 3.6, with
// PyTorch's safeguards. After `most` tries, or where the bracket is shorter than `least`, the best
// point that was found. `start` is the point at 0.
LinePoint strong_wolfe(const std::function<LinePoint(double t)>& evaluate, const LinePoint& start,
                       double t, double least, int64_t most);

}  // namespace gradus::optim
