// Kernels of a function of core dimensions (autograd/tools/guvectorize.h): a thread calls it for
// one item of a loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gradus/cuda/rtc/program.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// A parameter of such a function: a number for dims 0, else a Core.
struct CoreParameter {
  ScalarType dtype;
  int dims;
  bool is_output;
  friend bool operator==(const CoreParameter&, const CoreParameter&) = default;
};

// What a parameter gets: where the item begins, and the core's sizes and strides in elements.
struct CorePart {
  void* data;
  const int64_t *sizes, *strides;
};

class CoreKernel {
 public:
  // function: its parameters and its body, whose only line is `line` of `file`.
  CoreKernel(std::vector<CoreParameter> parameters, const std::string& function,
             const std::string& file, int line);

  // Calls it for each item of a loop of these sizes, on the current stream of the device. parts: of
  // each parameter, for the first item. strides: of the loop, by parameter, in elements.
  // Errors: CompileError, which names file and line.
  void launch(Device device, const Dims& loop, const std::vector<Dims>& strides,
              const std::vector<CorePart>& parts) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gradus::cuda
