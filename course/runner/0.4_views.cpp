// Runs task 0.4.
#include "runner/runner.h"
#include "runner/views.h"

void run(const Message& in, Message& out) {
  std::vector<float> memory;
  const course::View x = view(in, memory);
  const std::string function = in.text("function");
  if (function == "permute") send(course::permute(x, in.longs("order")), memory, out);
  if (function == "narrow")
    send(course::narrow(x, in.number("dim"), in.number("start"), in.number("length")), memory, out);
  if (function == "expand") send(course::expand(x, in.longs("to")), memory, out);
}
