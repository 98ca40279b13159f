// Runs task 1.3. "memory" is that of out, with what it holds before.
#include "core/cpu.h"
#include "runner/bordered.h"
#include "runner/layouts.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const size_t apart = in.has("apart") ? in.number("apart") : 0;  // of the halves of each array
  out.floats("memory", at_both_borders([&](Border border) {
    const Bordered memory(in.floats("memory"), border, apart), x(in.floats("x"), border, apart);
    course::cpu::reduce(static_cast<course::Op2>(in.number("op")), in.real("start"), memory.data(), layout(in, "out"),
                        x.data(), layout(in, "x"), static_cast<int>(in.number("dim")));
    return memory.take();
  }));
}
