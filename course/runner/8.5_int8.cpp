// Runs task 8.5: quantizes a matrix, or with "x" multiplies one of bytes by a vector.
#include <array>
#include <bit>
#include <cstring>

#include "core/language.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

namespace {

// Four bytes lie in the place of a float.
std::vector<float> packed(const std::vector<long>& bytes) {
  std::vector<std::int8_t> all(bytes.begin(), bytes.end());
  std::vector<float> out(all.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), all.data(), out.size() * sizeof(float));
  return out;
}

std::int8_t* bytes_of(const GpuArray& array) {
  return reinterpret_cast<std::int8_t*>(static_cast<float*>(array));
}

}  // namespace

void run(const Message& in, Message& out) {
  const long rows = in.number("rows"), columns = in.number("columns");
  const auto numbers = static_cast<size_t>(rows * columns);
  if (in.has("x")) {
    const GpuArray q(packed(in.longs("q"))), scales(in.floats("scales")), x(in.floats("x"));
    const GpuArray y(static_cast<size_t>(rows));
    course::gpu::matvec_int8(y, bytes_of(q), scales, x, rows, columns);
    out.floats("y", y.take());
    return;
  }
  const GpuArray w(in.floats("w")), q(numbers / 4), scales(numbers / course::gpu::kGroup);
  course::gpu::quantize(bytes_of(q), scales, w, rows, columns);
  std::vector<long> bytes;
  for (const float each : q.take())
    for (const std::int8_t byte : std::bit_cast<std::array<std::int8_t, 4>>(each))
      bytes.push_back(byte);
  out.longs("q", bytes);
  out.floats("scales", scales.take());
}
