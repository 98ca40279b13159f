// Chooses the form of a reduction for a call, and launches it.
#include "gradus/cuda/rtc/reduction_kernel.h"

#include <algorithm>
#include <bit>

#include "gradus/cuda/rtc/launch_own.h"
#include "gradus/cuda/rtc/reduction_text.h"
#include "gradus/cuda/rtc/types.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

using codegen::Walk;
using rtc::Call;
using rtc::ParameterInfo;

struct ReductionKernel::State {
  std::string name;
  std::vector<ParameterInfo> parameters;
  size_t inputs;
  rtc::ReductionSource source;
  std::string reduce_type;
  std::vector<std::string> options;
  rtc::Programs programs;
};

namespace {

// The dimensions of a call, in two walks: over the results, and over what makes one of them. Both
// have the strides of each walked input, and those of `i`.
struct Walks {
  Walk kept, reduced;
  Dims shape;  // of the results
};

Walks walks_of(const std::string& name, const Call& call, OptionalIntArrayRef dim, bool keepdim) {
  const Dims all = call.shape();
  const auto is_reduced = dim_mask(name, dim, static_cast<int64_t>(all.size()));
  std::vector<Dims> strides;
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.is_walked(i))
      strides.push_back(
          broadcast_strides(name, call.tensor(i).sizes(), call.tensor(i).strides(), all));
  strides.push_back(contiguous_strides(all));
  Dims kept = all, reduced = all, shape;
  for (size_t d = 0; d < all.size(); ++d) {
    (is_reduced[d] ? kept : reduced)[d] = 1;
    if (keepdim || !is_reduced[d]) shape.push_back(kept[d]);
  }
  return {Walk(kept, strides), Walk(reduced, strides), shape};
}

// Neighbouring lanes read neighbouring elements: of one result, or of several.
rtc::ReductionForm form_of(const Walks& walks) {
  rtc::ReductionForm out{};
  const int64_t of_reduced = walks.reduced.strides[0].back(),
                of_kept = walks.kept.strides[0].back();
  const int64_t results = walks.kept.elements(), elements = walks.reduced.elements();
  out.side_by_side = results == 1 || of_reduced <= of_kept || of_kept == 0;
  const auto wanted = static_cast<uint64_t>(std::clamp<int64_t>(elements, 1, kThreads));
  out.parts = std::min(std::bit_ceil(static_cast<unsigned>(wanted)),
                       out.side_by_side ? unsigned{kThreads} : 8u);
  out.wide = codegen::is_wide(results * elements, walks.kept.reach() + walks.reduced.reach());
  out.walks = walks.kept.parameter("kept") + ", " + walks.reduced.parameter("reduced") + ", ";
  return out;
}

}  // namespace

ReductionKernel::ReductionKernel(const std::string& in_params, const std::string& out_params,
                                 Source map_expr, Source reduce_expr, Source post_map_expr,
                                 std::string identity, std::string name, std::string reduce_type,
                                 Source preamble, std::vector<std::string> options) {
  const size_t inputs = rtc::parameters_of(name, in_params).size();
  auto parameters = rtc::parameters_of(name, in_params + "," + out_params);
  check(inputs > 0 && parameters.size() > inputs, name,
        ": it has no input or no output; name one in in_params and out_params");
  for (size_t i = 0; i < parameters.size(); ++i)
    check(i < inputs || !parameters[i].is_raw, name, ": the output '", parameters[i].name,
          "' is raw; outputs of a reduction are not");
  check(!identity.empty(), name, ": it has no identity; give the value of an empty reduction");
  rtc::ReductionSource source{std::move(map_expr), std::move(reduce_expr), std::move(post_map_expr),
                              std::move(preamble), std::move(identity)};
  state_.reset(new State{std::move(name),
                         std::move(parameters),
                         inputs,
                         std::move(source),
                         std::move(reduce_type),
                         std::move(options),
                         {}});
}

const std::string& ReductionKernel::name() const { return state_->name; }

std::vector<Tensor> ReductionKernel::call(ArrayRef<Argument> inputs, OptionalIntArrayRef dim,
                                          bool keepdim) const {
  State& it = *state_;
  check<TypeError>(inputs.size() == it.inputs, it.name, " takes ", it.inputs, " inputs, and got ",
                   inputs.size());
  Call call(it.name, it.parameters, it.inputs, inputs);
  check<TypeError>(call.has_shape(), it.name,
                   ": no input is a tensor that is not raw, so that there is nothing to reduce");
  const DeviceGuard guard(call.device().index());
  const Walks walks = walks_of(it.name, call, dim, keepdim);
  const rtc::ReductionForm form = form_of(walks);
  const std::string value = [&] {
    if (!it.reduce_type.empty()) return it.reduce_type;
    const ScalarType first = call.dtype(it.inputs);
    return std::string(
        rtc::cuda_name(element_size(first) == 2 && isFloatingType(first) ? kFloat : first));
  }();
  const std::string key = call.types() + (form.side_by_side ? "side by side " : "") +
                          (form.wide ? "wide " : "") + std::to_string(form.parts) + form.walks;
  const Program program = it.programs.of(key, [&] {
    const Source text(rtc::reduction_text(call, form, it.name, value, it.source), it.source.map);
    return Program(text, {it.name, it.name + "_chunks", it.name + "_last"}, it.options);
  });

  std::vector<Tensor> outputs;
  codegen::KernelArguments of_inputs, of_outputs, of_walks;
  for (size_t i = it.inputs; i < it.parameters.size(); ++i) {
    outputs.push_back(raw::empty(walks.shape, call.dtype(i), call.device(), it.name));
    of_outputs.add(outputs.back().data_ptr());
  }
  const int64_t results = walks.kept.elements(), elements = walks.reduced.elements();
  if (results == 0) return outputs;
  for (size_t i = 0; i < it.inputs; ++i) call.add_to(of_inputs, i);
  of_walks.add(walks.kept.bytes(form.wide));
  of_walks.add(walks.reduced.bytes(form.wide));
  of_walks.add(results);
  of_walks.add(elements);
  const auto launch = [&](size_t kernel, const char* suffix, dim3 grid, auto... arguments) {
    codegen::KernelArguments all;
    (all.add(arguments), ...);
    rtc::launch_own(program, kernel, it.name + suffix, grid, kThreads, 0, all.pointers().data());
  };
  const auto blocks = static_cast<unsigned>(ceil_div(results, int64_t{kThreads / form.parts}));
  // Few results of many elements leave a GPU idle: several blocks then share the elements of each.
  constexpr int64_t kWorthABlock = 4096;
  const auto known = rtc::known_type(value);
  const int64_t wanted = 2 * getDeviceProperties(current_device()).multiprocessors / blocks;
  const int64_t chunks = known ? std::min(wanted, elements / kWorthABlock) : 1;
  if (chunks < 2) {
    launch(0, "", blocks, of_inputs, of_outputs, of_walks);
    return outputs;
  }
  const Scratch scratch(static_cast<size_t>(chunks * results) * known->size);
  launch(1, "_chunks", dim3(blocks, static_cast<unsigned>(chunks)), of_inputs, scratch.data(),
         of_walks);
  launch(2, "_last", blocks, scratch.data(), chunks, of_outputs, results);
  return outputs;
}

}  // namespace gradus::cuda
