// Runs task 6.8: the sums of rows, with "k" a product, with "scale" a step. Halves come and go as their bits.
#include <bit>

#include "core/halves.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

namespace {

// Two numbers of 16 bits are a float of memory; an odd number of them gets one more, infinity.
std::vector<float> packed(const std::vector<long>& bits) {
  std::vector<float> out;
  for (size_t i = 0; i < bits.size(); i += 2) {
    const long second = i + 1 < bits.size() ? bits[i + 1] : 0x7c00;
    out.push_back(std::bit_cast<float>(static_cast<unsigned>(bits[i] | second << 16)));
  }
  return out;
}

__half* halves_of(const GpuArray& array) {
  return reinterpret_cast<__half*>(static_cast<float*>(array));
}

// A step for each gradient.
void step(const Message& in, Message& out) {
  const GpuArray weights(in.floats("weights")), copy(packed(in.longs("copy")));
  const long n = static_cast<long>(weights.size());
  const auto bits = [&](const char* name) {
    return std::bit_cast<float>(static_cast<int>(in.number(name)));
  };
  const GpuArray loss({in.floats("scale")[0], bits("good_steps"), bits("interval"), 0});
  auto* const on_device = reinterpret_cast<course::gpu::LossScale*>(static_cast<float*>(loss));
  std::vector<long> good_steps;
  std::vector<float> scales;
  const std::vector<long> gradients = in.longs("gradients");
  for (auto begin = gradients.begin(); begin != gradients.end(); begin += n) {
    const GpuArray gradient(packed({begin, begin + n}));
    course::gpu::scaled_step(weights, halves_of(copy), on_device, halves_of(gradient), n,
                             in.floats("rate")[0]);
    const std::vector<float> now = loss.take();
    scales.push_back(now[0]), good_steps.push_back(std::bit_cast<int>(now[1]));
  }
  std::vector<long> copied;
  for (const float both : copy.take())
    for (const int shift : {0, 16}) copied.push_back(std::bit_cast<unsigned>(both) >> shift & 0xffff);
  copied.resize(weights.size());
  out.floats("weights", weights.take());
  out.longs("copy", copied);
  out.floats("scales", scales);
  out.longs("good_steps", good_steps);
}

}  // namespace

void run(const Message& in, Message& out) {
  if (in.has("scale")) return step(in, out);
  const auto number = [&](const char* name) { return static_cast<int>(in.number(name)); };
  if (in.has("k")) {
    const int m = number("m"), n = number("n");
    const GpuArray a(packed(in.longs("a"))), b(packed(in.longs("b"))), c(static_cast<size_t>(m) * n);
    course::gpu::matmul_halves(c, halves_of(a), halves_of(b), m, n, number("k"));
    out.floats("c", c.take());
    return;
  }
  const GpuArray x(packed(in.longs("x"))), sums(in.number("rows"));
  course::gpu::sum_rows(sums, halves_of(x), number("rows"), number("columns"));
  out.floats("out", sums.take());
}
