// Runs task 1.2. "memory" is that of out, with what it holds before; "in_place" says which operand is out: 1 x, 2 y, 3 both.
#include "core/cpu.h"
#include "runner/bordered.h"
#include "runner/layouts.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const long in_place = in.has("in_place") ? in.number("in_place") : 0;
  const size_t apart = in.has("apart") ? in.number("apart") : 0;  // of the halves of each array
  out.floats("memory", at_both_borders([&](Border border) {
    const Bordered memory(in.floats("memory"), border, apart), x(in.floats("x"), border, apart), y(in.floats("y"), border, apart);
    course::cpu::zip(static_cast<course::Op2>(in.number("op")), memory.data(), layout(in, "out"),
                     in_place & 1 ? memory.data() : x.data(), layout(in, "x"), in_place & 2 ? memory.data() : y.data(),
                     layout(in, "y"));
    return memory.take();
  }));
}
