// Runs task 4.3: some steps on parameters whose numbers come one after the other.
#include <list>

#include "core/training.h"
#include "runner/gpu_array.h"
#include "runner/runner.h"

namespace {

std::vector<float> part(const std::vector<float>& all, long start, long length) {
  return {all.begin() + start, all.begin() + start + length};
}

void append(std::vector<float>& all, const GpuArray& more) {
  for (const float each : more.take()) all.push_back(each);
}

}  // namespace

void run(const Message& in, Message& out) {
  const std::vector<float> w = in.floats("w"), g = in.floats("g"), rates = in.floats("lr");
  struct {
    course::Params params;
    course::Param after{.size = 1L << 50};  // who looks past a full list goes wrong
  } memory;
  course::Params& params = memory.params;
  std::list<GpuArray> weights, gradients, velocities;
  long start = 0;
  const bool has_velocity = in.real("momentum") != 0;
  for (const long size : in.longs("sizes")) {
    weights.emplace_back(part(w, start, size));
    gradients.emplace_back(part(g, start, size));
    if (has_velocity) velocities.emplace_back(static_cast<size_t>(size));  // holds nothing yet
    params.list[params.count++] = {weights.back(), gradients.back(), has_velocity ? static_cast<float*>(velocities.back()) : nullptr, size};
    start += size;
  }
  bool first_step = true;
  for (const float lr : rates) {
    course::gpu::sgd_step(params, {lr, in.real("momentum"), in.real("weight_decay")}, first_step);
    first_step = false;
  }
  std::vector<float> all_weights, all_velocities;
  for (const GpuArray& each : weights) append(all_weights, each);
  for (const GpuArray& each : velocities) append(all_velocities, each);
  out.floats("w", all_weights);
  out.floats("v", all_velocities);
}
