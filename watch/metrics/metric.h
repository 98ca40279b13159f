// Metric: a figure that is gathered over many batches.
#pragma once

#include <functional>
#include <memory>

#include "gradus/tensor/factories.h"

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

  // The metric then holds what all ranks of a distributed::Group have counted, so that compute()
  // is their common figure; reset() before counting on. All ranks call it together; a null group is
  // the whole job. Waits for the device. Errors: those of distributed::all_gather, and
  // NotImplementedError where figures of ranks have no common one.
  //
  //   accuracy.sync(distributed::Group());
  template <class ProcessGroup>
  void sync(const std::shared_ptr<ProcessGroup>& group) {
    // Found by the group's namespace, which this folder does not include.
    const Device device(get_backend(group) == "nccl" ? kCUDA : kCPU);
    join_ranks([&](const Tensor& here) {
      const Tensor mine = here.to(device);
      Tensors all;
      for (int rank = 0; rank < get_world_size(group); ++rank) all.push_back(empty_like(mine));
      all_gather(all, mine, group);
      return all;
    });
  }

 protected:
  // All that was counted, as float64 of one dimension on the CPU, and taking over what the ranks
  // have counted.
  virtual Tensor state() const;
  virtual void take_states(const Tensors& of_ranks);

 private:
  // gather: the tensors of all ranks, which have one shape.
  void join_ranks(const std::function<Tensors(const Tensor&)>& gather);
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
