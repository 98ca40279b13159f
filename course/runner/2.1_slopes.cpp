// Runs task 2.1: on each x, or each pair of x and y.
#include "core/autodiff.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const std::vector<float> x = in.floats("x"), y = in.floats("y");
  const int op = static_cast<int>(in.number("op"));
  std::vector<float> by_x, by_y;
  for (size_t i = 0; i < x.size(); ++i) {
    if (in.number("operands") == 1) {
      by_x.push_back(course::slope(course::Op1{op}, x[i], course::apply(course::Op1{op}, x[i])));
    } else {
      const course::Pair found = course::slopes(course::Op2{op}, x[i], y[i]);
      by_x.push_back(found.x), by_y.push_back(found.y);
    }
  }
  out.floats("by x", by_x);
  out.floats("by y", by_y);
}
