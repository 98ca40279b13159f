// Runs task 7.3: forward, or with "dout" the gradients.
#include "core/transformer.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const GpuArray q(in.floats("q")), k(in.floats("k")), v(in.floats("v"));
  const auto heads = static_cast<int>(in.number("heads")), n = static_cast<int>(in.number("n")),
             d = static_cast<int>(in.number("d"));
  const size_t scores = static_cast<size_t>(heads) * n * n;
  if (in.has("dout")) {
    const GpuArray dout(in.floats("dout")), weights(in.floats("weights")), scratch(scores);
    const GpuArray dq(q.size()), dk(k.size()), dv(v.size());
    course::gpu::causal_attention_backward(dq, dk, dv, scratch, dout, weights, q, k, v, heads, n,
                                           d);
    out.floats("dq", dq.take());
    out.floats("dk", dk.take());
    out.floats("dv", dv.take());
    return;
  }
  const GpuArray result(q.size()), weights(scores);
  course::gpu::causal_attention(result, weights, q, k, v, heads, n, d);
  out.floats("out", result.take());
  out.floats("weights", weights.take());
}
