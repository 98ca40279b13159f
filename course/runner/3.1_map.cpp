// Runs task 3.1. "queued" is a number of elements for which kernels are only queued.
#include "core/cuda.h"
#include "runner/queued.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  if (in.has("queued")) {
    const GpuArray any(size_t{1});
    return queued([&] { course::gpu::map(course::Op1::neg, any, any, in.number("queued")); });
  }
  const auto op = static_cast<course::Op1>(in.number("op"));
  const bool in_place = in.has("in_place");
  const size_t shift = shift_of(in);
  const GpuArray x(in.floats("x"), shift), result(x.size(), shift);
  const GpuArray& to = in_place ? x : result;
  course::gpu::map(op, to, x, static_cast<long>(x.size()));
  out.floats("out", to.take());
  if (!in_place) x.unchanged("x", in.floats("x"));
}
