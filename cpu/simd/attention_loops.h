// The loops of attention over a row of scores for each instruction set.
#pragma once

#include <cstdint>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// T is float or double. `mask` is added to the scores where it is not null, mask_step apart.
template <class T>
struct AttentionLoops {
  // The scores become weights e^(scale * score + mask - *top). *top is the largest score so far,
  // also of earlier calls for the row. *sum becomes the sum of the weights so far. Returns what the
  // earlier weights are multiplied by.
  T (*weigh)(int64_t n, T scale, const T* mask, int64_t mask_step, T* scores, T* top, T* sum);
  // The same about a known log_sum.
  void (*weigh_again)(int64_t n, T scale, const T* mask, int64_t mask_step, T log_sum, T* scores);
  // grads[i] = weights[i] * (grads[i] - mean) * scale
  void (*grad)(int64_t n, T scale, T mean, const T* weights, T* grads);
  // out[i] = out[i] * factor + x[i]
  void (*add)(int64_t n, T factor, const T* x, T* out);
  T (*dot)(int64_t n, const T* x, const T* y);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const AttentionLoops& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
