// Task 7.5: a step of AdamW for all parameters in one launch.
#include <algorithm>
#include <cmath>

#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

// The y coordinate of a block is the number of its parameter. first_part = 1 - beta1^step,
// second_part = 1 - beta2^step.
__global__ void adamw_kernel(const AdamParams params, const AdamW adamw, float first_part,
                             float second_part, bool first_step) {
  // BEGIN SOLUTION 7.5 kernel
  const AdamParam& p = params.list[blockIdx.y];
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.size) return;
  const float gradient = p.gradient[i], weight = p.weight[i] * (1 - adamw.lr * adamw.weight_decay);
  const float first = (first_step ? 0 : adamw.beta1 * p.first[i]) + (1 - adamw.beta1) * gradient;
  const float second =
      (first_step ? 0 : adamw.beta2 * p.second[i]) + (1 - adamw.beta2) * gradient * gradient;
  p.first[i] = first;
  p.second[i] = second;
  p.weight[i] =
      weight - adamw.lr * (first / first_part) / (sqrtf(second / second_part) + adamw.epsilon);
  // END SOLUTION 7.5
}

void adamw_step(const AdamParams& params, const AdamW& adamw, long step) {
  // BEGIN SOLUTION 7.5
  long longest = 0;
  for (int i = 0; i < params.count; ++i) longest = std::max(longest, params.list[i].size);
  const auto count = static_cast<unsigned>(params.count);
  const auto part = [step](float beta) {
    return static_cast<float>(1 - std::pow(double{beta}, static_cast<double>(step)));
  };
  launch(adamw_kernel, {dim3(ceil_div(longest, 256), count), 256}, params, adamw, part(adamw.beta1),
         part(adamw.beta2), step == 1);
  // END SOLUTION 7.5
}

}  // namespace course::gpu
