// Devices that are made of what modules 1, 3 and 4 hold, and a model for them. Given.
#pragma once

#include "core/training.h"

namespace course {

Device& host_device();  // the CPU: 4_training/host_device.cpp
Device& gpu_device();   // the first GPU: 4_training/gpu_device.cu

// A linear layer that learns: y = x w^T + b, with w of shape (outputs, inputs).
class LinearModel final : public Model {
 public:
  // Begins with these w and b; b has a number for each output. A batch has at most `most_rows` rows.
  LinearModel(Device& device, std::vector<float> w, const std::vector<float>& b, long most_rows, const Sgd& sgd);

  long inputs() const override { return in_; }
  long outputs() const override { return out_; }
  void zero_grad() override;
  const float* forward(const float* x, long rows) override;
  void backward(const float* dy) override;
  void step() override;
  std::vector<float> parameters() const;  // w, then b; waits

 private:
  Device& device_;
  const long in_, out_, count_;  // of parameters
  const Sgd sgd_;
  // w, then b: the parameters, their gradients, those of the last backward, and the velocities.
  const Buffer parameters_, gradients_, fresh_, velocities_, y_;
  const float* x_ = nullptr;
  long rows_ = 0;
  bool first_step_ = true;
};

}  // namespace course
