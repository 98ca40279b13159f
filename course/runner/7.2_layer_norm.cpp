// Runs task 7.2: forward, or with "dout" the gradients.
#include "core/transformer.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const GpuArray x(in.floats("x")), weight(in.floats("weight"));
  const long rows = in.number("rows");
  const size_t d = weight.size();
  if (in.has("dout")) {
    const GpuArray dout(in.floats("dout")), mean(in.floats("mean")), rstd(in.floats("rstd"));
    const GpuArray dx(x.size()), dweight(d), dbias(d);
    course::gpu::layer_norm_backward(dx, dweight, dbias, dout, x, weight, mean, rstd, rows,
                                     static_cast<int>(d));
    out.floats("dx", dx.take());
    out.floats("dweight", dweight.take());
    out.floats("dbias", dbias.take());
    return;
  }
  const GpuArray bias(in.floats("bias")), result(x.size()), mean(static_cast<size_t>(rows)),
      rstd(static_cast<size_t>(rows));
  course::gpu::layer_norm(result, mean, rstd, x, weight, bias, rows, static_cast<int>(d));
  out.floats("out", result.take());
  out.floats("mean", mean.take());
  out.floats("rstd", rstd.take());
}
