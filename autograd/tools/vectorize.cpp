// Runs a function of numbers over tensors: a loop on the CPU, an ElementwiseKernel on a GPU.
#include "gradus/autograd/tools/vectorize.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "gradus/autograd/engine/record.h"
#include "gradus/cuda/rtc/elementwise_kernel.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/factories.h"
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

Tensor tensor_of(const cuda::Argument& argument, ScalarType dtype, size_t i) {
  if (const cuda::Number* number = argument.number()) {
    check<TypeError>(!number->is_floating || isFloatingType(dtype), "vectorize: argument ", i + 1,
                     " is a number of type ", number->type, "; expected ", short_name(dtype));
    const Scalar value = number->is_floating ? Scalar(number->floating) : Scalar(number->integer);
    return full({}, value, TensorOptions(dtype));
  }
  const Tensor& tensor = *argument.tensor();
  check<TypeError>(tensor.defined(), "vectorize: argument ", i + 1, " is an undefined tensor");
  check<TypeError>(tensor.scalar_type() == dtype, "vectorize: argument ", i + 1, " is a tensor of ",
                   short_name(tensor.scalar_type()), "; expected ", short_name(dtype),
                   "; convert it with .to(k", toString(dtype), ")");
  return tensor;
}

Device common_device(ArrayRef<cuda::Argument> arguments) {
  const Tensor* first = nullptr;
  for (const cuda::Argument& each : arguments) {
    if (!each.tensor()) continue;
    if (!first) first = each.tensor();
    check(each.tensor()->device() == first->device(), "vectorize: a tensor is on ",
          each.tensor()->device().str(), ", and the first one on ", first->device().str(),
          "; move one of them with .to()");
  }
  return first ? first->device() : Device(kCPU);
}

// Rows are the last dimension; all others count them.
Tensor on_cpu(const ScalarFunction& f, const Tensors& inputs) {
  Dims shape;
  for (const Tensor& each : inputs) shape = broadcast_shapes("vectorize", shape, each.sizes());
  const Tensor out = raw::empty(shape, f.result, kCPU, "vectorize");
  if (out.numel() == 0) return out;
  const size_t rank = shape.size();
  const int64_t length = rank > 0 ? shape[rank - 1] : 1, rows = out.numel() / length;
  std::vector<Dims> strides;
  for (const Tensor& each : inputs)
    strides.push_back(broadcast_strides("vectorize", each.sizes(), each.strides(), shape));
  constexpr int64_t kPart = 16384;  // elements that are worth a thread
  const int64_t rows_of_part = std::max<int64_t>(1, kPart / length);
  detail::run_parts((rows + rows_of_part - 1) / rows_of_part, [&](int64_t part) {
    std::vector<void*> in(inputs.size());
    std::vector<int64_t> steps(inputs.size());
    const int64_t end = std::min(rows, (part + 1) * rows_of_part);
    for (int64_t row = part * rows_of_part; row < end; ++row) {
      for (size_t k = 0; k < inputs.size(); ++k) {
        int64_t rest = row, offset = 0;
        for (size_t d = rank; d-- > 1; rest /= shape[d - 1])
          offset += rest % shape[d - 1] * strides[k][d - 1];
        in[k] = static_cast<char*>(inputs[k].data_ptr()) + offset * inputs[k].element_size();
        steps[k] = rank > 0 ? strides[k][rank - 1] : 0;
      }
      f.row(length, static_cast<char*>(out.data_ptr()) + row * length * out.element_size(), 1,
            in.data(), steps.data());
    }
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
  check<TypeError>(arguments.size() == f.parameters.size(), "vectorize: the function takes ",
                   f.parameters.size(), " arguments, and got ", arguments.size());
  const Device device = common_device(arguments);
  Tensors inputs;
  for (size_t i = 0; i < arguments.size(); ++i)
    inputs.push_back(tensor_of(arguments[i], f.parameters[i], i));
  const bool records = recording(ArrayRef<Tensor>(inputs));
  check<Error>(!records || !state_->gradients.empty(),
               "vectorize: an argument requires grad, and the function has no gradient; give one "
               "with with_gradient(), or call it under a NoGradGuard");
  const Tensor out = [&] {
    const NoGradGuard guard;
    if (device.is_cpu()) return on_cpu(f, inputs);
    std::call_once(state_->made, [&] { state_->kernel = kernel_of(f); });
    return state_->kernel->call(arguments)[0];
  }();
  if (!records) return out;
  auto backward = [state = state_, count = inputs.size()](Node& node, const Tensor& grad) {
    std::vector<cuda::Argument> all;
    for (size_t i = 0; i < count; ++i) all.emplace_back(node.saved(i));
    all.emplace_back(grad);
    Tensors gradients(count);
    for (size_t i = 0; i < count; ++i)
      if (node.wants(i)) gradients[i] = state->gradients[i].call(all);
    return gradients;
  };
  auto node = make_node<LambdaNode<decltype(backward)>>("VectorizedBackward0", std::move(backward));
  for (const Tensor& each : inputs) {
    node->add_next_edge(gradient_edge(each));
    node->save(each.device() == device ? each : each.to(device), std::nullopt);
  }
  node->add_input_metadata(out);
  set_history(out, std::move(node), 0);
  return out;
}

}  // namespace gradus
