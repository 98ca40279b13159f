// Runs task 1.5. With "watch" races are looked for.
#include "core/cpu.h"
#include "runner/bordered.h"
#include "runner/races.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const std::vector<float> values = in.floats("x");
  const bool backwards = in.number("backwards") != 0;
  const Bordered x(values, backwards ? Border::before : Border::behind);
  const auto op = static_cast<course::Op2>(in.number("op"));
  const auto n = static_cast<long>(values.size());
  races::begin(in.number("chunks"), backwards, in.has("watch"), x.data(), n);
  try {
    out.floats("result", {course::cpu::reduce_parallel(op, in.real("start"), x.data(), n)});
  } catch (...) {
    races::report(out);
    throw;
  }
  races::report(out);
}
