// Runs task 1.1. "memory" is that of out, with what it holds before; with "in_place" x is out.
#include "core/cpu.h"
#include "runner/bordered.h"
#include "runner/layouts.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const size_t apart = in.has("apart") ? in.number("apart") : 0;  // of the halves of each array
  out.floats("memory", at_both_borders([&](Border border) {
    const Bordered memory(in.floats("memory"), border, apart), x(in.floats("x"), border, apart);
    course::cpu::map(static_cast<course::Op1>(in.number("op")), memory.data(), layout(in, "out"),
                     in.has("in_place") ? memory.data() : x.data(), layout(in, "x"));
    return memory.take();
  }));
}
