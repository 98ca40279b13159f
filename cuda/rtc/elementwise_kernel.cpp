// Chooses the form of an elementwise kernel for a call, and launches it.
#include "gradus/cuda/rtc/elementwise_kernel.h"

#include <algorithm>
#include <mutex>

#include "gradus/cuda/rtc/elementwise_text.h"
#include "gradus/cuda/rtc/launch_own.h"
#include "gradus/cuda/rtc/operands.h"
#include "gradus/cuda/rtc/types.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

using rtc::Call;
using rtc::Operand;
using rtc::Walk;

struct ElementwiseKernel::State {
  std::string name;
  std::vector<Operand> operands;
  size_t inputs;
  Source operation, preamble;
  std::vector<std::string> options;
  std::mutex mutex;
  std::map<std::string, Program> programs;  // by the form of a call
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
  const std::string& name = call.operands()[o].name;
  check(out.sizes() == IntArrayRef(shape), kernel, ": the output '", name, "' has shape ",
        out.sizes(), "; expected ", IntArrayRef(shape), ", what the arguments broadcast to");
  for (int64_t d = 0; d < out.dim(); ++d)
    check(out.size(d) < 2 || out.stride(d) != 0, kernel, ": the output '", name,
          "' has several elements in one place, as an expanded tensor; give a tensor of its own");
  const auto [begin, end] = reach(out);
  for (size_t i = 0; i < call.operands().size(); ++i) {
    const Tensor& other = call.tensor(i);
    if (i == o || !other.defined()) continue;
    const auto [other_begin, other_end] = reach(other);
    const bool apart = other_begin >= end || other_end <= begin;
    const bool same = i < call.inputs() && !call.operands()[i].is_raw && other_begin == begin &&
                      other.dtype() == out.dtype() && other.sizes() == out.sizes() &&
                      other.strides() == out.strides();
    check(apart || same, kernel, ": the output '", name, "' overlaps '", call.operands()[i].name,
          "' otherwise than element on element; give a copy of one of them");
  }
}

int vector_of(const Call& call) {
  size_t largest = 1, together = 0;
  for (size_t i = 0; i < call.operands().size(); ++i)
    if (call.is_walked(i)) largest = std::max(largest, element_size(call.dtype(i)));
  const size_t vector = 16 / largest;
  for (size_t i = 0; i < call.operands().size(); ++i)
    if (call.is_walked(i))
      together |= reinterpret_cast<uintptr_t>(call.tensor(i).data_ptr()) %
                  (vector * element_size(call.dtype(i)));
  return together == 0 ? static_cast<int>(vector) : 1;
}

}  // namespace

ElementwiseKernel::ElementwiseKernel(const std::string& in_params, const std::string& out_params,
                                     Source operation, std::string name, Source preamble,
                                     std::vector<std::string> options) {
  const size_t inputs = rtc::operands_of(name, in_params).size();
  auto operands = rtc::operands_of(name, in_params + (inputs > 0 ? "," : "") + out_params);
  check(operands.size() > inputs, name, ": it has no output; name one in out_params");
  state_.reset(new State{std::move(name),
                         std::move(operands),
                         inputs,
                         std::move(operation),
                         std::move(preamble),
                         std::move(options),
                         {},
                         {}});
}

const std::string& ElementwiseKernel::name() const { return state_->name; }

std::vector<Tensor> ElementwiseKernel::call(ArrayRef<Argument> arguments, int64_t size) const {
  State& it = *state_;
  Call call(it.name, it.operands, it.inputs, arguments);
  Dims shape = call.shape();
  if (size >= 0) {
    check(!call.has_shape(), it.name,
          ": size is given, and tensors that are not raw tell the shape; leave ",
          "one of them out");
    shape = Dims{size};
  }
  const DeviceGuard guard(call.device().index());
  std::vector<Tensor> outputs;
  for (size_t i = it.inputs; i < it.operands.size(); ++i) {
    if (call.gives_outputs()) {
      if (!it.operands[i].is_raw) check_output(it.name, call, i, shape);
    } else {
      check<TypeError>(!it.operands[i].is_raw, it.name, ": the output '", it.operands[i].name,
                       "' is raw, so that its shape is not known; give it after the inputs");
      call.set_output(i, raw::empty(shape, call.dtype(i), call.device(), it.name));
    }
    outputs.push_back(call.tensor(i));
  }
  int64_t n = 1, reached = 0;
  for (const int64_t each : IntArrayRef(shape)) n *= each;
  if (n == 0) return outputs;

  std::vector<std::vector<int64_t>> strides;
  for (size_t i = 0; i < it.operands.size(); ++i) {
    if (!call.is_walked(i)) continue;
    const Tensor& x = call.tensor(i);
    const Dims steps = broadcast_strides(it.name, x.sizes(), x.strides(), shape);
    strides.emplace_back(steps.begin(), steps.end());
    reached = std::max(reached, (reach(x).second - reach(x).first) / x.element_size());
  }
  const Walk walk = rtc::joined({shape.begin(), shape.end()}, std::move(strides));
  rtc::ElementwiseForm form{};
  form.contiguous =
      walk.sizes.size() == 1 &&
      std::ranges::all_of(walk.strides, [&](const auto& each) { return each[0] == 1; });
  form.vector = form.contiguous ? vector_of(call) : 1;
  form.reads = call.gives_outputs();
  form.dims = walk.sizes.size();
  form.wide = std::max(n, reached) > INT32_MAX - 1024 * 16;

  const std::string key = call.types() + std::to_string(form.contiguous) +
                          std::to_string(form.vector) + std::to_string(form.reads) +
                          std::to_string(form.wide) + std::to_string(form.dims);
  const Program program = [&] {
    const std::lock_guard lock(it.mutex);
    const auto found = it.programs.find(key);
    if (found != it.programs.end()) return found->second;
    const Source text(rtc::elementwise_text(call, form, it.name, it.operation, it.preamble),
                      it.operation);
    return it.programs.emplace(key, Program(text, {it.name}, it.options)).first->second;
  }();

  std::vector<std::array<int64_t, 2>> values(it.operands.size());
  std::vector<void*> pointers;
  for (size_t i = 0; i < it.operands.size(); ++i) {
    if (call.is_number(i)) {
      const auto bytes = call.number(i);
      std::memcpy(&values[i], bytes.data(), bytes.size());
    } else {
      values[i] = {reinterpret_cast<int64_t>(call.tensor(i).data_ptr()), call.tensor(i).numel()};
    }
    pointers.push_back(&values[i]);
  }
  std::vector<char> layout = rtc::packed({&walk}, form.wide);
  if (!form.contiguous) pointers.push_back(layout.data());
  pointers.push_back(&n);
  const int64_t threads = ceil_div(n, int64_t{form.vector});
  rtc::launch_own(program, 0, it.name,
                  dim3(static_cast<unsigned>(ceil_div(threads, int64_t{kThreads}))), kThreads, 0,
                  pointers.data());
  if (call.gives_outputs())
    for (const Tensor& each : outputs) each.impl().storage->bump_version();
  return outputs;
}

}  // namespace gradus::cuda
