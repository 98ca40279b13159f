// Optimizer::Due, a parameter update that a step has to do, and Optimizer::Batch of those that go
// together; step.cpp and captured_step.cpp share them.
#pragma once

#include <array>
#include <memory>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

// A parameter that has a gradient.
struct Optimizer::Due {
  const Tensor *parameter, *gradient;
  size_t group;
  ScalarType dtype;  // that the step is computed in
  OptimizerParamState* state;
  std::unique_ptr<OptimizerParamState> made;   // the same, where there was none before the step
  std::array<Tensor*, kMostStates> tensors{};  // of the state
  int64_t* steps = nullptr;                    // where the state counts them
  Step step{};

  bool goes_with(const Due& other) const {
    return step.op == other.step.op && step.states == other.step.states && dtype == other.dtype &&
           parameter->device() == other.parameter->device();
  }
};

// Parameters that are updated together.
struct Optimizer::Batch {
  std::vector<Due*> due;
  std::vector<UpdatedParameter> updated;  // in the same order
};

// The graph that a step of the parameter is captured for, or null.
cuda::Graph* graph_of(const Tensor& parameter);

}  // namespace gradus::optim
