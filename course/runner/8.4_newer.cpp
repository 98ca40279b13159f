// Runs task 8.4: the part that "function" names.
#include <stdexcept>

#include "core/language.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

void run(const Message& in, Message& out) {
  const std::string function = in.text("function");
  const auto number = [&](const char* name) { return static_cast<int>(in.number(name)); };
  if (function == "rope") {
    const GpuArray x(in.floats("x"));
    course::gpu::rope(x, in.number("rows"), number("heads"), number("d"), in.number("first"));
    out.floats("out", x.take());
  } else if (function == "rms_norm") {
    const GpuArray x(in.floats("x")), weight(in.floats("weight"));
    const GpuArray other(x.size()), &result = in.number("in_place") != 0 ? x : other;
    course::gpu::rms_norm(result, x, weight, in.number("rows"), static_cast<int>(weight.size()));
    out.floats("out", result.take());
  } else if (function == "swiglu") {
    const GpuArray x(in.floats("x")), result(x.size() / 2);
    const long rows = in.number("rows");
    course::gpu::swiglu(result, x, rows, static_cast<long>(result.size()) / rows);
    out.floats("out", result.take());
  } else if (function == "grouped_attention") {
    const GpuArray q(in.floats("q")), k(in.floats("k")), v(in.floats("v")), result(q.size());
    const int heads = number("heads");
    course::gpu::grouped_attention(result, q, k, v, heads, number("groups"), number("n"),
                                   static_cast<int>(q.size()) / heads);
    out.floats("out", result.take());
  } else {
    throw std::logic_error("there is no function " + function);
  }
}
