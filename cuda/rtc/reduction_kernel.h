// Reductions of the user's own, with the names and the meaning of CuPy's ReductionKernel
// (docs/own-kernels.md).
//
//   const cuda::ReductionKernel l2norm("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0",
//   "l2norm"); Tensor norms = l2norm(x, 1);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gradus/cuda/rtc/argument.h"
#include "gradus/cuda/rtc/program.h"

namespace gradus::cuda {

// How elements become one number, over some dimensions.
class ReductionKernel {
 public:
  // in_params, out_params, preamble: those of ElementwiseKernel.
  // map_expr: an expression of the inputs, and of `i`, the index of the element in row-major order.
  // reduce_expr: an expression of a and b, two mapped values or results of it; it must not matter
  //   in which order and grouping they come.
  // post_map_expr: statements that make each output of the reduced value a.
  // identity: what a reduction begins with, and the value of an empty one: "0", "-INFINITY".
  // reduce_type: the type of a and b; "" for that of the first output, or float for 16-bit floats.
  // Errors: ValueError and TypeError where the parameters cannot be read.
  ReductionKernel(const std::string& in_params, const std::string& out_params, Source map_expr,
                  Source reduce_expr, Source post_map_expr, std::string identity,
                  std::string name = "reduce_kernel", std::string reduce_type = "",
                  Source preamble = std::string(), std::vector<std::string> options = {});

  // Reduces the broadcast inputs over the dimensions, by default all. Returns the first output.
  // Errors: those of ElementwiseKernel; IndexError and ValueError for dimensions that are out of
  // range or named twice.
  Tensor operator()(ArrayRef<Argument> inputs, OptionalIntArrayRef dim = std::nullopt,
                    bool keepdim = false) const {
    return call(inputs, dim, keepdim)[0];
  }
  Tensor operator()(const Tensor& input, OptionalIntArrayRef dim = std::nullopt,
                    bool keepdim = false) const {
    return call({Argument(input)}, dim, keepdim)[0];
  }
  // All outputs.
  std::vector<Tensor> call(ArrayRef<Argument> inputs, OptionalIntArrayRef dim = std::nullopt,
                           bool keepdim = false) const;

  const std::string& name() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gradus::cuda
