// The parameters of ElementwiseKernel and ReductionKernel, and what a call gives for them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gradus/cuda/rtc/argument.h"
#include "gradus/tensor/codegen/elements.h"

namespace gradus::cuda::rtc {

// A parameter: "raw T x".
struct ParameterInfo {
  bool is_raw;
  std::string type, name;
};

// "T x, raw float y". `kernel` is for messages. Errors: ValueError where a parameter has no name,
// or a name is used twice; TypeError where a type is neither known (types.h) nor a capital letter.
std::vector<ParameterInfo> parameters_of(const std::string& kernel, const std::string& list);

// Parameters with their arguments, checked against each other.
class Call {
 public:
  // Arguments stand for `parameters` in order; those of the last ones may be missing. Raw inputs
  // are made contiguous. Errors: TypeError where an argument is of another type or kind, or a
  // placeholder of two types; ValueError where a tensor is not on the device of the others; Error
  // where one requires grad and grad mode is on.
  Call(const std::string& kernel, const std::vector<ParameterInfo>& parameters, size_t inputs,
       ArrayRef<Argument> arguments);

  // The current device where no tensor is given.
  Device device() const { return device_; }
  const std::vector<ParameterInfo>& parameters() const { return parameters_; }
  size_t inputs() const { return inputs_; }
  // Undefined where a number is given, or nothing yet.
  const Tensor& tensor(size_t i) const { return tensors_[i]; }
  bool is_number(size_t i) const { return i < numbers_.size() && !tensors_[i].defined(); }
  // The number in the parameter's type. Errors: ValueError where that does not hold it.
  std::array<char, 8> number(size_t i) const;
  // Errors: TypeError where no argument tells the type of a placeholder.
  ScalarType dtype(size_t i) const;
  // Whether it is a tensor, and not raw: kernels walk over its elements.
  bool is_walked(size_t i) const { return tensors_[i].defined() && !parameters_[i].is_raw; }
  bool has_shape() const { return has_walked(0, parameters_.size()); }
  // What the inputs that are walked over broadcast to, or else the outputs; without any, that of
  // one number. Errors: ValueError where they do not.
  Dims shape() const;
  void set_output(size_t i, const Tensor& tensor) { tensors_[i] = tensor; }
  bool gives_outputs() const { return numbers_.size() > inputs_; }
  // "float,number,float": what the text of a kernel depends on, of the types.
  std::string types() const;
  // The text of a kernel begins with this: the prelude of codegen; Raw, by which kernels index raw
  // tensors; `using T = float;` for each placeholder.
  std::string prelude(bool wide) const;
  // Parameter i as one of the kernel.
  codegen::ElementParameter kernel_parameter(size_t i) const;
  // Adds what the kernel gets for parameter i: the address of a tensor, a Raw, or a number.
  void add_to(codegen::KernelArguments& arguments, size_t i) const;

 private:
  bool has_walked(size_t first, size_t last) const;
  void bind(size_t i, ScalarType dtype);

  const std::string& kernel_;
  const std::vector<ParameterInfo>& parameters_;
  size_t inputs_;
  Device device_;
  std::vector<Tensor> tensors_;
  std::vector<const Number*> numbers_;  // null for tensors; one for each argument
  std::map<std::string, ScalarType> placeholders_;
};

// That of the first tensor, or the current one.
Device device_of(ArrayRef<Argument> arguments);
// The errors that a tensor which autograd follows, or which is on the CPU, gets as an argument.
void check_argument(gradus::detail::Part place, const Tensor& tensor, Device device);

}  // namespace gradus::cuda::rtc
