// Runs task 6.6: a transposed copy, or with "values" a histogram.
#include <bit>

#include "core/extra.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

namespace {

int* ints_of(const GpuArray& array) { return reinterpret_cast<int*>(static_cast<float*>(array)); }

}  // namespace

void run(const Message& in, Message& out) {
  if (!in.has("values")) {
    const GpuArray x(in.floats("x")), result(x.size());
    course::gpu::transpose(result, x, static_cast<int>(in.number("rows")),
                           static_cast<int>(in.number("columns")));
    out.floats("out", result.take());
    return;
  }
  std::vector<float> bits;  // of the values, as an array of the device has them
  for (const long each : in.longs("values"))
    bits.push_back(std::bit_cast<float>(static_cast<int>(each)));
  const long bins = in.number("bins");
  const GpuArray values(bits),
      counts(std::vector<float>(static_cast<size_t>(bins), std::bit_cast<float>(1000)));
  course::gpu::histogram(ints_of(counts), ints_of(values), static_cast<long>(bits.size()),
                         static_cast<int>(bins));
  std::vector<long> found;
  for (const float each : counts.take()) found.push_back(std::bit_cast<int>(each));
  out.longs("counts", found);
}
