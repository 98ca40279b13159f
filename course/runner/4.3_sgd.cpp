// Runs task 4.3: some steps on parameters whose numbers come one after the other. "g" has the gradients of all steps, or of each.
// Parameters begin "shift" numbers behind the beginning of their memory. Behind the list's end stands a parameter that is none.
// "queued" has the sizes of parameters for which a step is only queued.
#include <list>

#include "core/training.h"
#include "runner/queued.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

namespace {

std::vector<float> part(const std::vector<float>& all, long start, long length) {
  return {all.begin() + start, all.begin() + start + length};
}

// What follows the first `gap` numbers.
void append(std::vector<float>& all, const GpuArray& more, size_t gap) {
  const std::vector<float> found = more.take();
  all.insert(all.end(), found.begin() + static_cast<long>(gap), found.end());
}

}  // namespace

void run(const Message& in, Message& out) {
  if (in.has("queued")) {
    const GpuArray any(size_t{1});
    course::Params params;
    for (const long size : in.longs("queued")) params.list[params.count++] = {any, any, any, size};
    return queued([&] { course::gpu::sgd_step(params, {0.5f, 0.5f, 0.5f}, false); });
  }
  const std::vector<float> w = in.floats("w"), g = in.floats("g"), rates = in.floats("lr");
  struct {
    course::Params params;
    course::Param after{.size = 1L << 50};  // who looks past a full list goes wrong
  } memory;
  course::Params& params = memory.params;
  std::list<GpuArray> weights, gradients, velocities;
  const auto gap = static_cast<size_t>(in.has("shift") ? in.number("shift") : 0);
  const std::vector<long> sizes = in.longs("sizes");
  const auto moved = [&](const std::vector<float>& all, long first, long size) {
    std::vector<float> out = part(all, first, size);
    out.insert(out.begin(), gap, 1000.0f);
    return out;
  };
  const auto give_gradients = [&](long first) {
    for (size_t i = 0; i < sizes.size(); first += sizes[i++]) {
      gradients.emplace_back(moved(g, first, sizes[i]));
      params.list[i].gradient = gradients.back() + gap;
    }
  };
  long start = 0;
  const bool has_velocity = in.real("momentum") != 0;
  for (const long size : sizes) {
    weights.emplace_back(moved(w, start, size));
    if (has_velocity) velocities.emplace_back(gap + static_cast<size_t>(size));  // holds nothing yet
    params.list[params.count++] = {weights.back() + gap, nullptr, has_velocity ? velocities.back() + gap : nullptr, size};
    start += size;
  }
  const GpuArray others({1, 2, 3}), others_gradient({1, 1, 1}), others_velocity({1, 1, 1});
  if (params.count < course::kMaxParams)
    params.list[params.count] = {others, others_gradient, has_velocity ? static_cast<float*>(others_velocity) : nullptr, 3};
  give_gradients(0);
  const bool of_each_step = g.size() > w.size();
  for (size_t step = 0; step < rates.size(); ++step) {
    if (of_each_step && step > 0) give_gradients(static_cast<long>(step) * start);
    course::gpu::sgd_step(params, {rates[step], in.real("momentum"), in.real("weight_decay")}, step == 0);
  }
  std::vector<float> all_weights, all_velocities;
  for (const GpuArray& each : weights) append(all_weights, each, gap);
  for (const GpuArray& each : velocities) append(all_velocities, each, gap);
  out.floats("w", all_weights);
  out.floats("v", all_velocities);
  out.floats("others", others.take());
}
