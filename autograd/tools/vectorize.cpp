// Runs a function of numbers over tensors: a loop on the CPU, an ElementwiseKernel on a GPU.
#include "gradus/autograd/tools/vectorize.h"

#include <mutex>
#include <optional>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/tools/own_calls.h"
#include "gradus/cuda/rtc/elementwise_kernel.h"
#include "gradus/tensor/batching/undo.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

using detail::ScalarFunction;

// The function for one dtype.
struct Vectorized::Version {
  ScalarFunction function;
  std::vector<Vectorized> gradients;  // by parameter; none where there is no gradient
  mutable std::once_flag made;
  mutable std::optional<cuda::ElementwiseKernel> kernel;  // from its first use on a GPU on
};
struct Vectorized::State {
  std::vector<std::unique_ptr<Version>> versions;
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

Dims common_shape(const Tensors& inputs) {
  Dims shape;
  for (const Tensor& each : inputs) shape = broadcast_shapes("vectorize", shape, each.sizes());
  return shape;
}

void run_on_cpu(const ScalarFunction& f, const Tensors& inputs, const Tensor& out) {
  Tensors all = inputs;
  all.push_back(out);
  std::vector<Dims> strides;
  for (const Tensor& each : all)
    strides.push_back(broadcast_strides("vectorize", each.sizes(), each.strides(), out.sizes()));
  constexpr int64_t kPart = 16384;
  detail::for_rows(out.impl().sizes, strides, kPart,
                   [&](int64_t length, const int64_t* offsets, const int64_t* steps) {
                     std::vector<void*> at(all.size());
                     for (size_t k = 0; k < all.size(); ++k)
                       at[k] = static_cast<char*>(all[k].data_ptr()) +
                               offsets[k] * all[k].element_size();
                     f.row(length, at.back(), steps[inputs.size()], at.data(), steps);
                   });
}

void check_result(const ScalarFunction& f, const Tensors& inputs, const Tensor& out) {
  check<Error>(!recording(ArrayRef<Tensor>(inputs)) && !recording(out),
               "vectorize: a result that is given does not support automatic differentiation, but "
               "a tensor requires grad; use the result that is returned, or a NoGradGuard");
  check<TypeError>(out.scalar_type() == f.result, "vectorize: the result that is given is of ",
                   short_name(out.scalar_type()), "; expected ", short_name(f.result));
  const Dims shape = common_shape(inputs);
  check(out.sizes() == IntArrayRef(shape), "vectorize: the result that is given has shape ",
        out.sizes(), "; expected ", IntArrayRef(shape), ", what the arguments broadcast to");
  for (int64_t d = 0; d < out.dim(); ++d)
    check(out.size(d) < 2 || out.stride(d) != 0,
          "vectorize: the result that is given has several elements in one place, as an expanded "
          "tensor; give a tensor of its own");
}

// Whether out shares memory with an input otherwise than element on element.
bool lies_across(const Tensors& inputs, const Tensor& out) {
  for (const Tensor& x : inputs)
    if (x.is_alias_of(out) &&
        !(x.data_ptr() == out.data_ptr() && x.sizes() == out.sizes() &&
          x.strides() == out.strides() && x.scalar_type() == out.scalar_type()))
      return true;
  return false;
}

}  // namespace

Vectorized::Vectorized(ScalarFunction function) : Vectorized(Functions{std::move(function)}) {}

Vectorized::Vectorized(Functions functions, const std::vector<Functions>& gradients)
    : state_(std::make_shared<State>()) {
  for (size_t v = 0; v < functions.size(); ++v) {
    ScalarFunction& f = functions[v];
    check(!f.parameters.empty(), "vectorize: the function has no parameter; give it one");
    auto& version = *state_->versions.emplace_back(std::make_unique<Version>());
    if (!gradients.empty()) {
      const Functions& given = gradients[v];
      std::vector<ScalarType> expected = f.parameters;
      check<TypeError>(given.size() == expected.size(), "with_gradient: got ", given.size(),
                       " functions for ", expected.size(), " parameters; give one for each");
      expected.push_back(f.result);
      for (size_t i = 0; i < given.size(); ++i) {
        check<TypeError>(given[i].parameters == expected && given[i].result == f.parameters[i],
                         "with_gradient: function ", i + 1,
                         " has other types than expected: the parameters, the gradient of the "
                         "result, and returned the type of parameter ",
                         i + 1, "; say what it returns by ->");
        version.gradients.emplace_back(given[i]);
      }
    }
    version.function = std::move(f);
  }
}

Vectorized::Functions Vectorized::functions() const {
  Functions out;
  for (const auto& version : state_->versions) out.push_back(version->function);
  return out;
}

const Vectorized::Version& Vectorized::version_for(ArrayRef<cuda::Argument> arguments) const {
  const auto& versions = state_->versions;
  if (versions.size() == 1) return *versions[0];
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor* const x = arguments[i].tensor();
    if (!x || !x->defined()) continue;
    std::string names;
    for (const auto& version : versions) {
      const ScalarType dtype = version->function.parameters[0];
      if (dtype == x->scalar_type()) return *version;
      names += (names.empty() ? "" : ", ") + std::string(short_name(dtype));
    }
    fail<TypeError>("vectorize: argument ", i + 1, " is a tensor of ", short_name(x->scalar_type()),
                    "; expected one of ", names,
                    "; convert it with .to(), or name its type in vectorize<...>");
  }
  return *versions[0];
}

Tensor Vectorized::call(ArrayRef<cuda::Argument> arguments) const {
  const Version& version = version_for(arguments);
  const ScalarFunction& f = version.function;
  const bool given = arguments.size() == f.parameters.size() + 1 && arguments.back().tensor();
  detail::check_count("vectorize", f.parameters.size(), arguments.size() - given);
  const Device device = detail::common_device("vectorize", arguments);
  Tensors inputs;
  for (size_t i = 0; i < f.parameters.size(); ++i)
    inputs.push_back(detail::tensor_of("vectorize", arguments[i], f.parameters[i], i));
  Tensor result;
  if (given) {
    result = arguments.back().tensor()->operand("vectorize", "the result");
    check_result(f, inputs, result);
  }
  const bool records =
      !given && detail::records_own("vectorize", inputs, !version.gradients.empty());
  {
    const NoGradGuard guard;
    const bool across = given && lies_across(inputs, result);
    Tensor out = across ? Tensor() : result;
    if (device.is_cpu()) {
      if (out.defined())
        batching::before_writing(out);
      else
        out = raw::empty(common_shape(inputs), f.result, kCPU, "vectorize");
      run_on_cpu(f, inputs, out);
      if (given && !across) out.impl().storage->bump_version();
    } else {
      std::call_once(version.made, [&] { version.kernel = kernel_of(f); });
      out = version.kernel->call(across ? arguments.slice(0, f.parameters.size()) : arguments)[0];
    }
    if (across)
      result.copy_(out);
    else
      result = out;
  }
  if (!records) return result;
  detail::record_own("VectorizedBackward0", inputs, {result},
                     [state = state_, &version](size_t i, ArrayRef<cuda::Argument> all) {
                       return version.gradients[i].call(all);
                     });
  return result;
}

}  // namespace gradus
