// LOSES: large, calls
// Does not put an element back before it changes the next.
#include <algorithm>
#include <cmath>

#include "core/autodiff.h"

namespace course {

bool gradcheck(const Function& f, const std::vector<double>& x, double step, double tolerance) {
  const std::vector<double> gradient = f.gradient(x);
  if (gradient.size() != x.size()) return false;
  std::vector<double> near = x;
  for (size_t i = 0; i < x.size(); ++i) {
    const double h = step * std::max(1.0, std::abs(x[i]));
    near[i] = x[i] + h;
    const double right = f.value(near);
    near[i] = x[i] - h;
    const double left = f.value(near);
    const double difference = (right - left) / (2 * h);
    // Said so that a NaN is refused too: no comparison with it holds.
    if (!(std::abs(gradient[i] - difference) <= tolerance * std::max(1.0, std::abs(difference)))) return false;
  }
  return true;
}

}  // namespace course
