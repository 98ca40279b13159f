// Runs task 4.2.
#include "core/training.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  if (in.has("huge")) {  // more numbers than an int counts: both arrays are one, and nobody waits for the end
    void* memory = nullptr;
    course::check(cudaMalloc(&memory, static_cast<size_t>(in.number("huge")) * sizeof(float)), "cudaMalloc");
    const GpuArray loss(size_t{1});
    course::gpu::mse(loss, nullptr, static_cast<float*>(memory), static_cast<float*>(memory), in.number("huge"));
    out.floats("loss", loss.take());
    cudaFree(memory);
    return;
  }
  const GpuArray y(in.floats("y")), target(in.floats("target"));
  const GpuArray loss(size_t{1}), gradient(in.number("wants_gradient") != 0 ? y.size() : 0);
  course::gpu::mse(loss, gradient.size() != 0 ? static_cast<float*>(gradient) : nullptr, y, target,
                   static_cast<long>(y.size()));
  out.floats("loss", loss.take());
  out.floats("gradient", gradient.take());
}
