// Random numbers of the stages of ./train: the same in each run.
#pragma once

#include "core/transformer.h"

namespace train {

struct Numbers final : course::Random {
  unsigned state = 1;
  float next() override {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f;
  }
};

}  // namespace train
