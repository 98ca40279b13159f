// Task 7.5, another way: a struct goes by value to functions and to the kernel, and a block has a parameter.
#include <algorithm>
#include <cmath>

#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

// A block for a parameter: its threads go along it.
struct Number {
  float weight, first, second;

  __device__ void decay(AdamW how) { weight = weight - how.lr * how.weight_decay * weight; }
  __device__ void follow(AdamW how, float g) {
    first = how.beta1 * first + (1 - how.beta1) * g;
    second = how.beta2 * second + (1 - how.beta2) * (g * g);
  }
  __device__ void move(AdamW how, float one, float two) {
    weight = weight - how.lr * (first * one) / (sqrtf(second * two) + how.epsilon);
  }
};

__global__ void adamw_kernel(const AdamParams params, const AdamW how, float one, float two, long step) {
  const AdamParam p = params.list[blockIdx.x];
  for (long i = threadIdx.x; i < p.size; i += blockDim.x) {
    Number number{p.weight[i], 0, 0};
    if (step > 1) number.first = p.first[i], number.second = p.second[i];
    number.decay(how);
    number.follow(how, p.gradient[i]);
    number.move(how, one, two);
    p.weight[i] = number.weight, p.first[i] = number.first, p.second[i] = number.second;
  }
}

void adamw_step(const AdamParams& params, const AdamW& adamw, long step) {
  const auto power = [step](double base) { return std::exp(double(step) * std::log(base)); };
  const float one = float(1.0 / (1.0 - power(adamw.beta1))), two = float(1.0 / (1.0 - power(adamw.beta2)));
  launch(adamw_kernel, {unsigned(params.count), 128}, params, adamw, one, two, step);
}

}  // namespace course::gpu
