// Chooses the form of a reduction for a call, and launches it.
#include "gradus/cuda/rtc/reduction_kernel.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "gradus/cuda/rtc/launch_own.h"
#include "gradus/cuda/rtc/reduction_text.h"
#include "gradus/cuda/rtc/types.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

using rtc::Call;
using rtc::Operand;
using rtc::Walk;

struct ReductionKernel::State {
  std::string name;
  std::vector<Operand> operands;
  size_t inputs;
  rtc::ReductionSource source;
  std::string reduce_type;
  std::vector<std::string> options;
  std::mutex mutex;
  std::map<std::string, Program> programs;  // by the form of a call
};

namespace {

// The dimensions of a call, in two walks: over the results, and over what makes one of them. Both
// have the strides of each walked input, and those of `i`.
struct Walks {
  Walk kept, reduced;
  Dims shape;  // of the results
  int64_t results = 1, elements = 1;
};

Walks walks_of(const std::string& name, const Call& call, OptionalIntArrayRef dim, bool keepdim) {
  const Dims all = call.shape();
  const auto rank = static_cast<int64_t>(all.size());
  const auto is_reduced = dim_mask(name, dim, rank);
  std::vector<Dims> steps;
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.is_walked(i))
      steps.push_back(
          broadcast_strides(name, call.tensor(i).sizes(), call.tensor(i).strides(), all));
  steps.push_back(contiguous_strides(all));
  std::vector<int64_t> sizes[2];
  std::vector<std::vector<int64_t>> strides[2]{std::vector<std::vector<int64_t>>(steps.size()),
                                               std::vector<std::vector<int64_t>>(steps.size())};
  Walks out;
  std::vector<int64_t> shape;
  for (size_t d = 0; d < all.size(); ++d) {
    const bool reduced = is_reduced[d];
    (reduced ? out.elements : out.results) *= all[d];
    if (!reduced || keepdim) shape.push_back(reduced ? 1 : all[d]);
    sizes[reduced].push_back(all[d]);
    for (size_t k = 0; k < steps.size(); ++k) strides[reduced][k].push_back(steps[k][d]);
  }
  out.shape = Dims(shape.data(), shape.size());
  out.kept = rtc::joined(sizes[0], std::move(strides[0]));
  out.reduced = rtc::joined(sizes[1], std::move(strides[1]));
  return out;
}

// Neighbouring lanes read neighbouring elements: of one result, or of several.
rtc::ReductionForm form_of(const Walks& walks, const Call& call) {
  rtc::ReductionForm out{};
  const int64_t of_reduced = walks.reduced.strides[0].back(),
                of_kept = walks.kept.strides[0].back();
  out.side_by_side = walks.results == 1 || of_reduced <= of_kept || of_kept == 0;
  const auto wanted = static_cast<uint64_t>(std::clamp<int64_t>(walks.elements, 1, kThreads));
  out.parts = std::min(std::bit_ceil(static_cast<unsigned>(wanted)),
                       out.side_by_side ? unsigned{kThreads} : 8u);
  int64_t most = walks.elements * walks.results;
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.is_walked(i))
      for (int64_t d = 0, reach = 1; d < call.tensor(i).dim(); ++d)
        most = std::max(most, reach += (call.tensor(i).size(d) - 1) * call.tensor(i).stride(d));
  out.wide = most > INT32_MAX - 1024 * 1024;
  out.kept_dims = walks.kept.sizes.size(), out.reduced_dims = walks.reduced.sizes.size();
  return out;
}

}  // namespace

ReductionKernel::ReductionKernel(const std::string& in_params, const std::string& out_params,
                                 Source map_expr, Source reduce_expr, Source post_map_expr,
                                 std::string identity, std::string name, std::string reduce_type,
                                 Source preamble, std::vector<std::string> options) {
  const size_t inputs = rtc::operands_of(name, in_params).size();
  auto operands = rtc::operands_of(name, in_params + "," + out_params);
  check(inputs > 0 && operands.size() > inputs, name,
        ": it has no input or no output; name one in in_params and out_params");
  for (size_t i = 0; i < operands.size(); ++i)
    check(i < inputs || !operands[i].is_raw, name, ": the output '", operands[i].name,
          "' is raw; outputs of a reduction are not");
  check(!identity.empty(), name, ": it has no identity; give the value of an empty reduction");
  rtc::ReductionSource source{std::move(map_expr), std::move(reduce_expr), std::move(post_map_expr),
                              std::move(preamble), std::move(identity)};
  state_.reset(new State{std::move(name),
                         std::move(operands),
                         inputs,
                         std::move(source),
                         std::move(reduce_type),
                         std::move(options),
                         {},
                         {}});
}

const std::string& ReductionKernel::name() const { return state_->name; }

std::vector<Tensor> ReductionKernel::call(ArrayRef<Argument> inputs, OptionalIntArrayRef dim,
                                          bool keepdim) const {
  State& it = *state_;
  check<TypeError>(inputs.size() == it.inputs, it.name, " takes ", it.inputs, " inputs, and got ",
                   inputs.size());
  Call call(it.name, it.operands, it.inputs, inputs);
  check<TypeError>(call.has_shape(), it.name,
                   ": no input is a tensor that is not raw, so that there is nothing to reduce");
  const DeviceGuard guard(call.device().index());
  Walks walks = walks_of(it.name, call, dim, keepdim);
  const rtc::ReductionForm form = form_of(walks, call);
  const std::string types = call.types();
  const std::string value = [&] {
    if (!it.reduce_type.empty()) return it.reduce_type;
    const ScalarType first = call.dtype(it.inputs);
    return std::string(
        rtc::cuda_name(element_size(first) == 2 && isFloatingType(first) ? kFloat : first));
  }();
  const std::string key = types + std::to_string(form.side_by_side) + std::to_string(form.wide) +
                          std::to_string(form.parts) + "," + std::to_string(form.kept_dims) + "," +
                          std::to_string(form.reduced_dims);
  const Program program = [&] {
    const std::lock_guard lock(it.mutex);
    const auto found = it.programs.find(key);
    if (found != it.programs.end()) return found->second;
    const Source text(rtc::reduction_text(call, form, it.name, value, it.source), it.source.map);
    return it.programs
        .emplace(key, Program(text, {it.name, it.name + "_chunks", it.name + "_last"}, it.options))
        .first->second;
  }();

  std::vector<Tensor> outputs;
  for (size_t i = it.inputs; i < it.operands.size(); ++i)
    outputs.push_back(raw::empty(walks.shape, call.dtype(i), call.device(), it.name));
  if (walks.results == 0) return outputs;

  std::vector<std::array<int64_t, 2>> values(it.inputs);
  std::vector<void*> of_inputs, of_outputs;
  for (size_t i = 0; i < it.inputs; ++i) {
    if (call.is_number(i)) {
      const auto bytes = call.number(i);
      std::memcpy(&values[i], bytes.data(), bytes.size());
    } else {
      values[i] = {reinterpret_cast<int64_t>(call.tensor(i).data_ptr()), call.tensor(i).numel()};
    }
    of_inputs.push_back(&values[i]);
  }
  std::vector<void*> addresses;
  for (const Tensor& each : outputs) addresses.push_back(each.data_ptr());
  for (void*& each : addresses) of_outputs.push_back(&each);
  std::vector<char> layout = rtc::packed({&walks.kept, &walks.reduced}, form.wide);
  const auto launched = [&](size_t kernel, const char* suffix, dim3 grid,
                            std::initializer_list<std::vector<void*>> lists) {
    std::vector<void*> all;
    for (const auto& each : lists) all.insert(all.end(), each.begin(), each.end());
    rtc::launch_own(program, kernel, it.name + suffix, grid, kThreads, 0, all.data());
  };
  const auto blocks =
      static_cast<unsigned>(ceil_div(walks.results, int64_t{kThreads / form.parts}));
  // Few results of many elements leave a GPU idle: several blocks then share the elements of each.
  constexpr int64_t kWorthABlock = 4096;
  const auto known = rtc::known_type(value);
  const int64_t wanted = 2 * getDeviceProperties(current_device()).multiprocessors / blocks;
  int64_t chunks = known ? std::min(wanted, walks.elements / kWorthABlock) : 1;
  if (chunks < 2) {
    launched(0, "", blocks,
             {of_inputs, of_outputs, {layout.data(), &walks.results, &walks.elements}});
    return outputs;
  }
  const Scratch scratch(static_cast<size_t>(chunks * walks.results) * known->size);
  void* partial = scratch.data();
  launched(1, "_chunks", dim3(blocks, static_cast<unsigned>(chunks)),
           {of_inputs, {&partial, layout.data(), &walks.results, &walks.elements}});
  launched(2, "_last", blocks, {{&partial, &chunks}, of_outputs, {&walks.results}});
  return outputs;
}

}  // namespace gradus::cuda
