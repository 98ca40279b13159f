// Runs a function of numbers over tensors: a loop on the CPU, an ElementwiseKernel on a GPU.
#include "gradus/autograd/tools/vectorize.h"

#include <mutex>
#include <optional>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/tools/own_calls.h"
#include "gradus/cuda/rtc/elementwise_kernel.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

using detail::ScalarFunction;

struct Vectorized::State {
  ScalarFunction function;
  std::vector<Vectorized> gradients;  // by parameter; none where there is no gradient
  std::once_flag made;
  std::optional<cuda::ElementwiseKernel> kernel;  // from its first use on a GPU on
};

namespace {

// The function as a kernel: "float x0, float x1" to "float y", with its text in front.
cuda::ElementwiseKernel kernel_of(const ScalarFunction& f) {
  std::string inputs, arguments;
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const std::string name = "x" + std::to_string(i), comma = i > 0 ? ", " : "";
    inputs += comma + std::string(short_name(f.parameters[i])) + " " + name;
    arguments += comma + name;
  }
  return cuda::ElementwiseKernel(
      inputs, std::string(short_name(f.result)) + " y",
      cuda::Source("y = scalar(" + arguments + ")", f.file.c_str(), f.line), "vectorized",
      cuda::Source("__device__ __forceinline__ auto scalar" + f.text, f.file.c_str(), f.line));
}

Tensor on_cpu(const ScalarFunction& f, const Tensors& inputs) {
  Dims shape;
  for (const Tensor& each : inputs) shape = broadcast_shapes("vectorize", shape, each.sizes());
  const Tensor out = raw::empty(shape, f.result, kCPU, "vectorize");
  std::vector<Dims> strides;
  for (const Tensor& each : inputs)
    strides.push_back(broadcast_strides("vectorize", each.sizes(), each.strides(), shape));
  strides.push_back(out.impl().strides);
  constexpr int64_t kPart = 16384;
  detail::for_rows(shape, strides, kPart,
                   [&](int64_t length, const int64_t* offsets, const int64_t* steps) {
                     const auto address = [&](const Tensor& x, size_t k) -> void* {
                       return static_cast<char*>(x.data_ptr()) + offsets[k] * x.element_size();
                     };
                     std::vector<void*> in(inputs.size());
                     for (size_t k = 0; k < in.size(); ++k) in[k] = address(inputs[k], k);
                     f.row(length, address(out, in.size()), 1, in.data(), steps);
                   });
  return out;
}

}  // namespace

Vectorized::Vectorized(ScalarFunction function) : state_(std::make_shared<State>()) {
  check(!function.parameters.empty(), "vectorize: the function has no parameter; give it one");
  state_->function = std::move(function);
}

Vectorized Vectorized::with_gradients(std::vector<ScalarFunction> gradients) const {
  const ScalarFunction& f = state_->function;
  std::vector<ScalarType> expected = f.parameters;
  check<TypeError>(gradients.size() == expected.size(), "with_gradient: got ", gradients.size(),
                   " functions for ", expected.size(), " parameters; give one for each");
  expected.push_back(f.result);
  Vectorized out(f);
  for (size_t i = 0; i < gradients.size(); ++i) {
    check<TypeError>(gradients[i].parameters == expected && gradients[i].result == f.parameters[i],
                     "with_gradient: function ", i + 1,
                     " has other types than expected: the "
                     "parameters, the gradient of the result, and returned the type of parameter ",
                     i + 1, "; say what it returns by ->");
    out.state_->gradients.emplace_back(std::move(gradients[i]));
  }
  return out;
}

Tensor Vectorized::call(ArrayRef<cuda::Argument> arguments) const {
  const ScalarFunction& f = state_->function;
  detail::check_count("vectorize", f.parameters.size(), arguments.size());
  const Device device = detail::common_device("vectorize", arguments);
  Tensors inputs;
  for (size_t i = 0; i < arguments.size(); ++i)
    inputs.push_back(detail::tensor_of("vectorize", arguments[i], f.parameters[i], i));
  const bool records = detail::records_own("vectorize", inputs, !state_->gradients.empty());
  const Tensor out = [&] {
    const NoGradGuard guard;
    if (device.is_cpu()) return on_cpu(f, inputs);
    std::call_once(state_->made, [&] { state_->kernel = kernel_of(f); });
    return state_->kernel->call(arguments)[0];
  }();
  if (!records) return out;
  detail::record_own("VectorizedBackward0", inputs, {out},
                     [state = state_](size_t i, ArrayRef<cuda::Argument> all) {
                       return state->gradients[i].call(all);
                     });
  return out;
}

}  // namespace gradus
