// Runs task 6.9: the work of a kernel and the kernel itself, bounds on a chip, and the two changes.
#include "core/roofline.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

namespace gpu = course::gpu;

namespace {

void reply(Message& out, const gpu::Work& work) {
  out.number("operations", static_cast<long>(work.operations));
  out.number("bytes", static_cast<long>(work.bytes));
}

// Numbers for a kernel, whose values do not matter.
std::vector<float> ones(long count) { return std::vector<float>(static_cast<size_t>(count), 1); }

}  // namespace

void run(const Message& in, Message& out) {
  const auto number = [&](const char* name) { return in.number(name); };
  const auto small = [&](const char* name) { return static_cast<int>(in.number(name)); };
  if (in.has("chip")) {
    const std::vector<long> peaks = in.longs("chip"), does = in.longs("work");
    const gpu::Chip chip = {static_cast<double>(peaks[0]), static_cast<double>(peaks[1])};
    const gpu::Work work = {static_cast<double>(does[0]), static_cast<double>(does[1])};
    out.floats("microseconds", {static_cast<float>(1e6 * gpu::least_seconds(work, chip))});
    out.number("bound by memory", gpu::bound_by_memory(work, chip));
    return out.number("tile", gpu::least_tile(chip));
  }
  if (in.has("u")) {
    const GpuArray y(in.floats("y")), u(in.floats("u")), v(in.floats("v"));
    const std::vector<float> factors = in.floats("factors");
    gpu::axpy_two(y, factors[0], u, factors[1], v, static_cast<long>(y.size()));
    return out.floats("y", y.take());
  }
  if (in.has("x")) {
    const GpuArray x(in.floats("x")), sums(in.number("rows"));
    gpu::sum_rows_together(sums, x, small("rows"), small("columns"));
    return out.floats("out", sums.take());
  }
  const bool runs = number("runs");
  if (in.has("tile")) {
    const long m = number("m"), n = number("n"), k = number("k");
    reply(out, gpu::work_of_matmul(m, n, k, number("tile")));
    if (!runs) return;
    const GpuArray a(ones(m * k)), b(ones(k * n)), c(static_cast<size_t>(m * n));
    gpu::matmul_tiles(c, a, b, small("m"), small("n"), small("k"), small("tile"));
    c.take();
  } else if (in.has("columns")) {
    const long rows = number("rows"), columns = number("columns");
    reply(out, gpu::work_of_sum_rows(rows, columns));
    if (!runs) return;
    const GpuArray x(ones(rows * columns)), sums(static_cast<size_t>(rows));
    gpu::sum_rows_alone(sums, x, small("rows"), small("columns"));
    sums.take();
  } else {
    const long n = number("n");
    reply(out, gpu::work_of_axpy(n));
    if (!runs) return;
    const GpuArray x(ones(n)), y(ones(n));
    gpu::axpy(y, 2, x, n);
    y.take();
  }
}
