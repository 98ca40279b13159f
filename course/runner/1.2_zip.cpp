// Runs task 1.2.
#include "core/cpu.h"
#include "runner/layouts.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  std::vector<float> memory = in.floats("memory");  // of out, with what it holds before
  const std::vector<float> x = in.floats("x"), y = in.floats("y");
  course::cpu::zip(static_cast<course::Op2>(in.number("op")), memory.data(), layout(in, "out"), x.data(), layout(in, "x"),
                   y.data(), layout(in, "y"));
  out.floats("memory", memory);
}
