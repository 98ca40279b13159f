// Runs task 0.5.
#include "runner/runner.h"
#include "runner/views.h"

void run(const Message& in, Message& out) {
  std::vector<float> memory;
  const std::optional<course::View> view_of_x = course::reshape(view(in, memory), in.longs("to"));
  out.number("is_view", view_of_x.has_value());
  if (view_of_x) send(*view_of_x, memory, out);
}
