// Chooses the form of an elementwise kernel for a call, and launches it.
#include "gradus/cuda/rtc/elementwise_kernel.h"

#include <algorithm>

#include "gradus/cuda/rtc/call.h"
#include "gradus/cuda/rtc/compiler.h"
#include "gradus/cuda/rtc/launch_own.h"
#include "gradus/cuda/rtc/types.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/batching/undo.h"
#include "gradus/tensor/codegen/elements.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

using rtc::Call;
using rtc::ParameterInfo;

struct ElementwiseKernel::State {
  std::string name;
  std::vector<ParameterInfo> parameters;
  size_t inputs;
  Source operation, preamble;
  std::vector<std::string> options;
  rtc::Programs programs;
};

namespace {

// The bytes of memory that a tensor reaches over.
std::pair<const char*, const char*> reach(const Tensor& x) {
  const auto* begin = static_cast<const char*>(x.data_ptr());
  int64_t last = 0;
  for (int64_t d = 0; d < x.dim(); ++d) last += (x.size(d) - 1) * x.stride(d);
  return {begin, begin + (x.numel() == 0 ? 0 : (last + 1) * x.element_size())};
}

void check_output(const std::string& kernel, const Call& call, size_t o, const Dims& shape) {
  const Tensor& out = call.tensor(o);
  const std::string& name = call.parameters()[o].name;
  check(out.sizes() == IntArrayRef(shape), kernel, ": the output '", name, "' has shape ",
        out.sizes(), "; expected ", IntArrayRef(shape), ", what the arguments broadcast to");
  for (int64_t d = 0; d < out.dim(); ++d)
    check(out.size(d) < 2 || out.stride(d) != 0, kernel, ": the output '", name,
          "' has several elements in one place, as an expanded tensor; give a tensor of its own");
  const auto [begin, end] = reach(out);
  for (size_t i = 0; i < call.parameters().size(); ++i) {
    const Tensor& other = call.tensor(i);
    if (i == o || !other.defined()) continue;
    const auto [other_begin, other_end] = reach(other);
    const bool apart = other_begin >= end || other_end <= begin;
    const bool same = i < call.inputs() && !call.parameters()[i].is_raw && other_begin == begin &&
                      other.dtype() == out.dtype() && other.sizes() == out.sizes() &&
                      other.strides() == out.strides();
    check(apart || same, kernel, ": the output '", name, "' overlaps '", call.parameters()[i].name,
          "' otherwise than element on element; give a copy of one of them");
  }
}

// The operation in a function of its own, and the kernel that calls it.
std::string text_of(const Call& call, const codegen::ElementsForm& form, const std::string& name,
                    const Source& operation, const Source& preamble) {
  std::vector<codegen::ElementParameter> parameters;
  for (size_t i = 0; i < call.parameters().size(); ++i)
    parameters.push_back(call.kernel_parameter(i));
  const std::string function = name + "_element", place = "text of " + name;
  return call.prelude(form.wide) + rtc::line_directive(preamble.file(), preamble.line()) +
         preamble.text() + "\n" + rtc::line_directive(place, 1) +
         "__device__ __forceinline__ void " + function + "(" +
         codegen::element_parameters(parameters) + ", const Index i, const Index n) {\n" +
         rtc::line_directive(operation.file(), operation.line()) + operation.text() + "\n;}\n" +
         rtc::line_directive(place, 10) +
         codegen::elements_text(name, parameters, form, function, true);
}

}  // namespace

ElementwiseKernel::ElementwiseKernel(const std::string& in_params, const std::string& out_params,
                                     Source operation, std::string name, Source preamble,
                                     std::vector<std::string> options) {
  const size_t inputs = rtc::parameters_of(name, in_params).size();
  auto parameters = rtc::parameters_of(name, in_params + (inputs > 0 ? "," : "") + out_params);
  check(parameters.size() > inputs, name, ": it has no output; name one in out_params");
  state_.reset(new State{std::move(name),
                         std::move(parameters),
                         inputs,
                         std::move(operation),
                         std::move(preamble),
                         std::move(options),
                         {}});
}

const std::string& ElementwiseKernel::name() const { return state_->name; }

std::vector<Tensor> ElementwiseKernel::call(ArrayRef<Argument> arguments, int64_t size) const {
  State& it = *state_;
  Call call(it.name, it.parameters, it.inputs, arguments);
  Dims shape = call.shape();
  if (size >= 0) {
    check(!call.has_shape(), it.name,
          ": size is given, and tensors that are not raw tell the shape; leave ",
          "one of them out");
    shape = Dims{size};
  }
  const DeviceGuard guard(call.device().index());
  std::vector<Tensor> outputs;
  for (size_t i = it.inputs; i < it.parameters.size(); ++i) {
    if (call.gives_outputs()) {
      if (!it.parameters[i].is_raw) check_output(it.name, call, i, shape);
    } else {
      check<TypeError>(!it.parameters[i].is_raw, it.name, ": the output '", it.parameters[i].name,
                       "' is raw, so that its shape is not known; give it after the inputs");
      call.set_output(i, raw::empty(shape, call.dtype(i), call.device(), it.name));
    }
    outputs.push_back(call.tensor(i));
  }
  std::vector<Dims> strides;
  std::vector<size_t> element_sizes;
  int most_vector = codegen::kMostAligned;
  codegen::KernelArguments values;
  for (size_t i = 0; i < it.parameters.size(); ++i) {
    call.add_to(values, i);
    if (!call.is_walked(i)) continue;
    const Tensor& x = call.tensor(i);
    strides.push_back(broadcast_strides(it.name, x.sizes(), x.strides(), shape));
    element_sizes.push_back(element_size(call.dtype(i)));
    most_vector = std::min(most_vector, codegen::alignment(x.data_ptr(), element_sizes.back()));
  }
  const codegen::Walk walk(shape, strides);
  const int64_t n = walk.elements();
  if (n == 0) return outputs;
  const codegen::ElementsForm form(walk, element_sizes, most_vector);

  const std::string key = call.types() + (call.gives_outputs() ? "reads " : "") + form.key();
  const Program program = it.programs.of(key, [&] {
    const Source text(text_of(call, form, it.name, it.operation, it.preamble), it.operation);
    return Program(text, {it.name}, it.options);
  });
  if (call.gives_outputs())
    for (const Tensor& each : outputs) batching::before_writing(each);
  rtc::launch_elements(program, it.name, form, walk, std::move(values));
  if (call.gives_outputs())
    for (const Tensor& each : outputs) each.impl().storage->bump_version();
  return outputs;
}

}  // namespace gradus::cuda
