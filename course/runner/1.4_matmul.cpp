// Runs task 1.4.
#include "core/cpu.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  std::vector<float> memory = in.floats("memory");  // of out, with what it holds before
  const std::vector<float> a = in.floats("a"), b = in.floats("b");
  const auto matrix = [&](const std::vector<float>& data, const char* strides) {
    return course::Mat{data.data(), in.longs(strides)[0], in.longs(strides)[1]};
  };
  const auto size = [&](const char* name) { return static_cast<int>(in.number(name)); };
  course::cpu::matmul(memory.data(), matrix(a, "a_strides"), matrix(b, "b_strides"), size("m"), size("n"), size("k"));
  out.floats("memory", memory);
}
