// Runs task 1.6.
#include "core/cpu.h"
#include "runner/bordered.h"
#include "runner/runner.h"

using course::Cached;

void run(const Message& in, Message& out) {
  const std::vector<float> a = in.floats("a"), b = in.floats("b");
  std::vector<float> c = in.floats("memory");  // of out, with what it holds before
  course::Cache cache;
  long free = 0;  // the next free address of the simulated memory
  const auto cached = [&]<class T>(int number, const char* name, T* data, size_t size) {
    const Cached<T> array(cache, number, name, data, static_cast<long>(size), free);
    const long bytes = static_cast<long>(size * sizeof(float)), line = course::Cache::kLine;
    free += (bytes + line - 1) / line * line;
    return array;
  };
  const auto size = [&](const char* name) { return static_cast<int>(in.number(name)); };
  const int m = size("m"), n = size("n"), k = size("k");
  if (in.number("counted"))
    course::cpu::matmul_blocked(cached(0, "out", c.data(), c.size()), cached(1, "a", a.data(), a.size()),
                                cached(2, "b", b.data(), b.size()), m, n, k);
  else
    c = at_both_borders([&](Border border) {
      const Bordered to(c, border), left(a, border), right(b, border);
      course::cpu::matmul_blocked(to.data(), left.data(), right.data(), m, n, k);
      return to.take();
    });
  out.longs("misses", {cache.misses(0), cache.misses(1), cache.misses(2)});
  out.longs("accesses", {cache.accesses(0), cache.accesses(1), cache.accesses(2)});
  out.floats("c", c);
}
