// Runs task 1.4. "memory" is that of out, with what it holds before; with "same" b lies in the memory of a.
#include "core/cpu.h"
#include "runner/bordered.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const auto matrix = [&](const Bordered& data, const char* strides) {
    return course::Mat{data.data(), in.longs(strides)[0], in.longs(strides)[1]};
  };
  const auto size = [&](const char* name) { return static_cast<int>(in.number(name)); };
  const size_t apart = in.has("apart") ? in.number("apart") : 0;  // of the halves of a and b
  out.floats("memory", at_both_borders([&](Border border) {
    const Bordered memory(in.floats("memory"), border), a(in.floats("a"), border, apart), b(in.floats("b"), border, apart);
    const course::Mat left = matrix(a, "a_strides"), right = matrix(in.has("same") ? a : b, "b_strides");
    course::cpu::matmul(memory.data(), left, right, size("m"), size("n"), size("k"));
    return memory.take();
  }));
}
