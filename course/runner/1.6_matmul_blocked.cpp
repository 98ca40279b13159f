// Runs task 1.6.
#include "core/cpu.h"
#include "runner/bordered.h"
#include "runner/memory.h"
#include "runner/runner.h"

using course::Cached;

void run(const Message& in, Message& out) {
  std::vector<float> a = in.floats("a"), b = in.floats("b");
  std::vector<float> c = in.floats("memory");  // of out, with what it holds before
  course::Cache cache;
  const auto array = [](const char* name, std::vector<float>& values, bool is_const) {
    return course::CachedArray{name, values.data(), static_cast<long>(values.size()), is_const};
  };
  course::use_cache(cache, {array("out", c, false), array("a", a, true), array("b", b, true)});
  const auto size = [&](const char* name) { return static_cast<int>(in.number(name)); };
  const int m = size("m"), n = size("n"), k = size("k");
  long own_bytes = 0;  // that the student's code held at a time: a simulated cache has blocks of its own
  if (in.number("counted"))
    course::cpu::matmul_blocked(Cached<float>(0), Cached<const float>(1), Cached<const float>(2), m, n, k);
  else
    c = at_both_borders([&](Border border) {
      const Bordered to(c, border), left(a, border), right(b, border);
      forget_most();
      const long held = bytes_held();
      course::cpu::matmul_blocked(to.data(), left.data(), right.data(), m, n, k);
      own_bytes = most_bytes_held() - held;
      return to.take();
    });
  out.number("own bytes", own_bytes);
  out.longs("misses", {cache.misses(0), cache.misses(1), cache.misses(2)});
  out.longs("accesses", {cache.accesses(0), cache.accesses(1), cache.accesses(2)});
  out.longs("runs", {cache.longest_run(0), cache.longest_run(1), cache.longest_run(2)});
  out.floats("c", c);
}
