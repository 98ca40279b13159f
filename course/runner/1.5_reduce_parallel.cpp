// Runs task 1.5.
#include "core/cpu.h"
#include "runner/races.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  std::vector<float> x = in.floats("x");
  const auto op = static_cast<course::Op2>(in.number("op"));
  const auto n = static_cast<long>(x.size());
  x.resize(x.size() + 1024, -555.5F);  // what a loop that goes too far reads
  races::begin(in.number("chunks"), in.number("backwards") != 0, x.data(), n);
  try {
    out.floats("result", {course::cpu::reduce_parallel(op, in.real("start"), x.data(), n)});
  } catch (...) {
    races::report(out);
    throw;
  }
  races::report(out);
}
