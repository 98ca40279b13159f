// Metric: a figure that is gathered over many batches.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::metrics {

// The counts of update() stay on the device of the batches, so that no step of a loop waits for a
// GPU. No metric records a graph.
class Metric {
 public:
  Metric() = default;
  virtual ~Metric() = default;
  Metric(const Metric&) = default;
  Metric& operator=(const Metric&) = default;

  // The figure over all that was counted since the last reset(): float64 on the CPU, without
  // dimensions where it is one number; waits for the device.
  // Errors: Error where nothing was counted.
  virtual Tensor compute() const = 0;
  // Forgets all that was counted.
  virtual void reset() = 0;
};

// How figures of single classes become one.
enum class Average : uint8_t {
  Binary,    // that of class 1, of two classes
  Micro,     // that of all elements, whatever their class
  Macro,     // the mean over the classes that were met, in targets or predictions
  Weighted,  // the mean by the number of targets of each class
  None       // no mean: a vector of all classes
};

}  // namespace gradus::metrics
