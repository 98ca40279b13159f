// Runs task 1.1. "memory" is that of out, with what it holds before; with "in_place" x is out.
#include "core/cpu.h"
#include "runner/bordered.h"
#include "runner/layouts.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  out.floats("memory", at_both_borders([&](Border border) {
    const Bordered memory(in.floats("memory"), border), x(in.floats("x"), border);
    course::cpu::map(static_cast<course::Op1>(in.number("op")), memory.data(), layout(in, "out"),
                     in.has("in_place") ? memory.data() : x.data(), layout(in, "x"));
    return memory.take();
  }));
}
