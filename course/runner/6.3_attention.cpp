// Runs task 6.3.
#include "core/extra.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const GpuArray q(in.floats("q")), k(in.floats("k")), v(in.floats("v")), result(q.size());
  const auto n = static_cast<int>(in.number("n")), d = static_cast<int>(in.number("d"));
  course::gpu::attention(result, q, k, v, n, d, in.number("causal") != 0);
  out.floats("out", result.take());
}
