// Runs task 6.1.
#include "core/extra.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const auto number = [&](const char* name) { return static_cast<int>(in.number(name)); };
  const course::gpu::Conv sizes = {number("channels"), number("height"),   number("width"),  number("outputs"),
                                   number("window_h"), number("window_w"), number("padding")};
  const GpuArray x(in.floats("x")), weight(in.floats("weight"));
  const GpuArray result(static_cast<size_t>(sizes.outputs) * static_cast<size_t>(sizes.out_height() * sizes.out_width()));
  course::gpu::conv2d(result, x, weight, sizes);
  out.floats("out", result.take());
}
