// Runs task 7.1: the rows of tokens, or with "dout" the gradients of both tables.
#include <bit>

#include "core/transformer.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  std::vector<float> bits;  // of the tokens, as an array of the device has them
  for (const long each : in.longs("ids"))
    bits.push_back(std::bit_cast<float>(static_cast<int>(each)));
  const GpuArray memory(bits);
  const int* const ids = reinterpret_cast<const int*>(static_cast<float*>(memory));
  const auto rows = static_cast<long>(bits.size());
  const auto length = static_cast<int>(in.number("length")), d = static_cast<int>(in.number("d"));
  if (in.has("dout")) {
    const long vocabulary = in.number("vocabulary");
    const GpuArray dout(in.floats("dout")), dtable(static_cast<size_t>(vocabulary * d)),
        dplaces(static_cast<size_t>(length) * d);
    course::gpu::embedding_backward(dtable, dplaces, dout, ids, rows, length,
                                    static_cast<int>(vocabulary), d);
    out.floats("dtable", dtable.take());
    out.floats("dplaces", dplaces.take());
    return;
  }
  const GpuArray table(in.floats("table")), places(in.floats("places")),
      result(static_cast<size_t>(rows * d));
  course::gpu::embedding(result, table, places, ids, rows, length, d);
  out.floats("out", result.take());
}
