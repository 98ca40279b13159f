// Runs task 3.6.
#include "core/cuda.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const long m = in.number("m"), n = in.number("n"), k = in.number("k");
  const GpuArray a(in.floats("a")), b(in.floats("b")), c(static_cast<size_t>(m * n));
  course::gpu::matmul_coalesced(c, a, b, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
  out.floats("c", c.take());
}
