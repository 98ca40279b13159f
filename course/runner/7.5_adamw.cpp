// Runs task 7.5: some steps on parameters whose numbers come one after the other; each step has
// gradients of its own. With "begin" the first of them has that number, and moments are given.
#include <list>

#include "core/transformer.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

namespace {

std::vector<float> part(const std::vector<float>& all, long start, long length) {
  return {all.begin() + start, all.begin() + start + length};
}

void append(Message& out, const char* name, const std::list<GpuArray>& arrays) {
  std::vector<float> all;
  for (const GpuArray& array : arrays)
    for (const float each : array.take()) all.push_back(each);
  out.floats(name, all);
}

}  // namespace

void run(const Message& in, Message& out) {
  const std::vector<float> w = in.floats("w"), g = in.floats("g");
  const std::vector<long> sizes = in.longs("sizes");
  const auto total = static_cast<long>(w.size());
  std::list<GpuArray> weights, firsts, seconds, gradients;
  long start = 0;
  for (const long size : sizes) {
    weights.emplace_back(part(w, start, size));
    if (in.has("begin")) {
      firsts.emplace_back(part(in.floats("first_moments"), start, size));
      seconds.emplace_back(part(in.floats("second_moments"), start, size));
    } else {
      firsts.emplace_back(static_cast<size_t>(size));  // the moments hold nothing yet
      seconds.emplace_back(static_cast<size_t>(size));
    }
    start += size;
  }
  const std::vector<float> rates = in.floats("lr");
  const long begin = in.has("begin") ? in.number("begin") : 1;
  for (size_t step = 0; step < rates.size(); ++step) {
    struct {
      course::gpu::AdamParams params;
      course::gpu::AdamParam after{.size = 1L << 50};  // who looks past a full list goes wrong
    } memory;
    course::gpu::AdamParams& params = memory.params;
    auto weight = weights.begin(), first = firsts.begin(), second = seconds.begin();
    start = static_cast<long>(step) * total;
    for (const long size : sizes) {
      gradients.emplace_back(part(g, start, size));
      params.list[params.count++] = {*weight++, gradients.back(), *first++, *second++, size};
      start += size;
    }
    course::gpu::adamw_step(params,
                            {rates[step], in.real("beta1"), in.real("beta2"), in.real("epsilon"),
                             in.real("weight_decay")},
                            begin + static_cast<long>(step));
  }
  append(out, "w", weights);
  append(out, "first", firsts);
  append(out, "second", seconds);
}
