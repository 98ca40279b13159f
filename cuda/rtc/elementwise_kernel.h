// Elementwise kernels of the user's own, with the names and the meaning of CuPy's ElementwiseKernel
// (docs/own-kernels.md).
//
//   const cuda::ElementwiseKernel squared_diff("T x, T y", "T z", "z = (x - y) * (x - y)",
//                                              "squared_diff");
//   Tensor z = squared_diff(x, y);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gradus/cuda/rtc/argument.h"
#include "gradus/cuda/rtc/program.h"

namespace gradus::cuda {

// What is done to one element, over tensors of any strides.
class ElementwiseKernel {
 public:
  // in_params, out_params: "T x, raw float y": a type and a name each. A capital letter stands for
  //   any dtype, which the tensors of a call tell: one letter is one dtype. Other types are C++'s
  //   and NumPy's (float, int64_t, __half, float32, ...).
  // operation: statements that give each output, for one element. `i` is its index in row-major
  //   order of the common shape, `n` the number of elements. A raw parameter is the whole tensor,
  //   x[k] with k in row-major order, and x.size().
  // preamble: CUDA C++ in front of the kernel, for functions that the operation calls.
  // Errors: ValueError and TypeError where the parameters cannot be read.
  ElementwiseKernel(const std::string& in_params, const std::string& out_params, Source operation,
                    std::string name = "kernel", Source preamble = std::string(),
                    std::vector<std::string> options = {});

  // Inputs are tensors of any strides that broadcast against each other, or numbers, which become
  // what the placeholder is of the tensors. The outputs follow them where they are given: they have
  // the common shape, count as changed in place, and may be one of the inputs, element on element.
  // Others are made, contiguous. Without tensors that are not raw the shape is that of one number.
  // Returns the first output.
  // Errors: TypeError where an argument is of another type or kind, or a placeholder of two types;
  // ValueError where tensors do not broadcast, are on several devices, or an output overlaps itself
  // or, otherwise than element on element, an input; Error where a tensor requires grad and grad
  // mode is on, for no gradient is recorded; CompileError with the line of the operation.
  template <class... A>
  Tensor operator()(const A&... arguments) const {
    return call({Argument(arguments)...})[0];
  }
  // All outputs. size: the number of elements where all tensors are raw.
  std::vector<Tensor> call(ArrayRef<Argument> arguments, int64_t size = -1) const;

  const std::string& name() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gradus::cuda
