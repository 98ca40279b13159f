// fuse: traces a function once for each kind of arguments, and runs what the trace became.
#include "gradus/autograd/tools/fuse.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/batching/undo.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/fused/kernel_text.h"
#include "gradus/tensor/fused/tracer.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::detail {

using fused::Plan, fused::Tracer;

// The kind of arguments: there is one trace for each.
struct FusedKind {
  Device device;
  bool records;
  std::optional<ScalarType> lower;  // what autocast converts operands to
  struct Argument {
    ScalarType dtype;
    bool requires_grad, keeps_copy;  // keeps_copy: in `lower`, by autocast
    Dims sizes, strides;
  };
  std::vector<Argument> arguments;

  explicit FusedKind(const Tensors& inputs)
      : device(inputs[0].device()),
        records(GradMode::is_enabled()),
        lower(autocast::lower_type(device.type())) {
    for (const Tensor& x : inputs)
      arguments.push_back({x.scalar_type(), records && in_graph(x), autocast::keeps_copy(x),
                           x.impl().sizes, x.impl().strides});
  }
  bool operator==(const FusedKind& other) const {
    return device == other.device && records == other.records && lower == other.lower &&
           std::ranges::equal(arguments, other.arguments, [](const Argument& a, const Argument& b) {
             return a.dtype == b.dtype && a.requires_grad == b.requires_grad &&
                    a.keeps_copy == b.keeps_copy && std::ranges::equal(a.sizes, b.sizes) &&
                    std::ranges::equal(a.strides, b.strides);
           });
  }
};

struct FusedTrace {
  explicit FusedTrace(const FusedKind& of) : kind(of) {}

  FusedKind kind;
  AutocastMode autocast = thread_modes.autocast;
  std::string why_not;  // not empty: this kind is not fused
  Plan forward;
  std::vector<fused::Copy> copies;
  std::vector<fused::Draw> draws;
  // Computes the gradients of those inputs. The operands of `forward` come first, then the
  // gradients of those outputs, then what `forward` returns behind the results.
  Plan backward;
  std::vector<size_t> inputs, outputs;
  struct Result {
    Dims sizes;
    ScalarType dtype;
  };
  std::vector<Result> results;
  std::string source;
};

namespace {

// The text of a plan's kernels. Errors: NotFusable.
std::string text_of(const Plan& plan) {
  std::string out;
  for (const fused::Step& step : plan.steps)
    if (!step.kernel.computation.exprs.empty()) out += fused::make_text(step.kernel).text + "\n";
  return out;
}

// All kernels of a plan are compiled at once.
void prepare(const Plan& plan, Device device) {
  for (const fused::Step& step : plan.steps)
    if (!step.kernel.computation.exprs.empty()) backend(device.type()).prepare(step.kernel, device);
}

FusedTrace trace_of(const FusedKind& kind, const Tensors& inputs,
                    const std::function<Tensors(const Tensors&)>& f) {
  FusedTrace out(kind);
  try {
    for (const Tensor& x : inputs)
      if (x.device() != kind.device)
        fail<fused::NotFusable>("fuse: one argument is on ", kind.device, ", another on ",
                                x.device());
    Tracer tracer(kind.device.type());
    Tensors arguments, sources, results, given;
    for (size_t i = 0; i < inputs.size(); ++i) {
      arguments.push_back(tracer.input(inputs[i]));
      if (!kind.arguments[i].requires_grad) continue;
      arguments[i].requires_grad_();
      out.inputs.push_back(i);
      sources.push_back(arguments[i]);
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      if (kind.arguments[i].keeps_copy) tracer.offer_copy(static_cast<int>(i), *kind.lower);
    const Tensors outputs = f(arguments);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& y = outputs[i].operand("fuse", "a result of the function");
      if (!y.is_meta())
        fail<fused::NotFusable>("fuse: result ", i, " does not depend on the arguments");
      out.results.push_back({y.impl().sizes, y.scalar_type()});
      if (!in_graph(y)) continue;
      out.outputs.push_back(i);
      results.push_back(y);
    }
    fused::Computation forward = tracer.computation(outputs);
    const int forward_inputs = tracer.inputs();
    if (!results.empty()) {
      for (const Tensor& y : results)
        given.push_back(tracer.input(raw::empty(y.sizes(), y.scalar_type(), Device(kMeta))));
      const Tensors grads = autograd::grad(results, sources, given, false, false, true);
      Tensors defined;
      std::vector<size_t> of;
      for (size_t i = 0; i < grads.size(); ++i)
        if (grads[i].defined()) defined.push_back(grads[i]), of.push_back(out.inputs[i]);
      out.inputs = of;
      fused::Computation backward = tracer.computation(defined);
      const auto kept = read_stored(backward, forward.exprs.size(), tracer.inputs());
      forward.outputs.insert(forward.outputs.end(), kept.begin(), kept.end());
      out.backward = make_plan(backward, tracer.inputs() + static_cast<int>(kept.size()));
    }
    out.forward = make_plan(forward, forward_inputs);
    out.copies = tracer.copies();
    out.draws = tracer.draws();
    try {
      out.source = text_of(out.forward) + text_of(out.backward);
    } catch (const fused::NotFusable& reason) {
      if (!kind.device.is_cpu()) throw;
      out.source = std::string("// ") + reason.what() + "\n";
    }
  } catch (const Error& error) {  // f may have refused its arguments: then it will again
    out.why_not = error.what();
  }
  return out;
}

// The same, and nothing else has changed.
FusedTrace trace(const FusedKind& kind, const Tensors& inputs,
                 const std::function<Tensors(const Tensors&)>& f) {
  using batching::Level;
  batching::Undo undo;
  Level level{.randomness = batching::Randomness::different,
              .loops = true,
              .outer = batching::innermost(),
              .undo = &undo};
  const auto call = [&] {
    const batching::Scope scope(&level);
    return trace_of(kind, inputs, f);
  };
  FusedTrace out = call();
  if (undo.run() && out.why_not.empty())
    out.why_not = "fuse: the function changes a tensor that is no argument; return it instead";
  return out;
}

}  // namespace

using Traced = std::shared_ptr<const FusedTrace>;

struct FusedFunction::State {
  static constexpr size_t kMostTraces = 64;

  // Null where there is none.
  Traced find(const FusedKind& kind) {
    const std::lock_guard lock(mutex);
    const auto known =
        std::ranges::find_if(traces, [&](const Traced& t) { return t->kind == kind; });
    if (known == traces.end()) return nullptr;
    traces.splice(traces.begin(), traces, known);
    return traces.front();
  }
  void keep(const Traced& traced) {
    bool is_first_reason = false;
    {
      const std::lock_guard lock(mutex);
      for (const Traced& other : traces)
        if (other->kind == traced->kind) return;  // another thread traced it meanwhile
      traces.push_front(traced);
      if (traces.size() > kMostTraces) traces.pop_back();
      source += traced->source;
      is_first_reason = why_not.empty() && !traced->why_not.empty();
      if (!traced->why_not.empty()) why_not = traced->why_not;
    }
    if (is_first_reason) warn(traced->why_not + "; the function is called as it is");
  }

  std::mutex mutex;
  std::list<Traced> traces;  // the last one used comes first
  std::string why_not, source;
};

namespace {

// The gradients with a graph of their own, by running f again.
Tensors recorded_gradients(const std::function<Tensors(const Tensors&)>& f, const FusedTrace& trace,
                           const Tensors& inputs, const Tensors& grads) {
  check<Error>(trace.draws.empty(),
               "fuse: a function with dropout has no gradient of a gradient, for it would draw "
               "anew; call the function without fuse");
  const Tensors outputs = [&] {
    AutocastMode mode = trace.autocast;
    mode.caches = false;  // perhaps there is no scope at whose end the cache is cleared
    const autocast::StateGuard as_before(mode);
    return f(inputs);
  }();
  Tensors results, sources;
  for (const size_t i : trace.outputs) results.push_back(outputs[i]);
  for (const size_t i : trace.inputs) sources.push_back(inputs[i]);
  return autograd::grad(results, sources, grads, true, true, true);
}

// operands: the inputs, the copies and the draws.
void record(const Traced& trace, const std::function<Tensors(const Tensors&)>& f,
            const Tensors& operands, const Tensors& outputs, const Tensors& stored) {
  const auto backward = [trace, f, count = operands.size(), kept = stored.size()](
                            Node& node, const Tensors& grads) {
    const size_t inputs = trace->kind.arguments.size();
    Tensors given, saved;
    for (size_t i = 0; i < trace->outputs.size(); ++i)
      given.push_back(grads[i].defined()
                          ? raw::contiguous(grads[i])
                          : zeros(trace->results[trace->outputs[i]].sizes,
                                  TensorOptions(trace->results[trace->outputs[i]].dtype)
                                      .device(trace->kind.device)));
    for (size_t i = 0; i < count; ++i) saved.push_back(node.saved(i));
    Tensors found;
    if (GradMode::is_enabled()) {
      found = recorded_gradients(f, *trace, {saved.begin(), saved.begin() + inputs}, given);
    } else {
      saved.insert(saved.end(), given.begin(), given.end());
      for (size_t i = 0; i < kept; ++i) saved.push_back(node.saved(count + i));
      found = fused::run(trace->backward, saved);
    }
    Tensors out(inputs);
    for (size_t i = 0; i < found.size(); ++i) out[trace->inputs[i]] = found[i];
    return out;
  };
  auto node = make_node<LambdaNode<decltype(backward)>>("FusedBackward0", backward);
  for (size_t i = 0; i < trace->kind.arguments.size(); ++i)
    node->add_next_edge(gradient_edge(operands[i]));
  for (const Tensor& operand : operands) node->save(operand, std::nullopt);
  for (const Tensor& each : stored) node->save(each, std::nullopt);
  for (const size_t i : trace->outputs)
    set_history(outputs[i], node, node->add_input_metadata(outputs[i]));
}

}  // namespace

FusedFunction::FusedFunction() : state_(std::make_shared<State>()) {}

Tensors FusedFunction::call(const Tensors& inputs,
                            const std::function<Tensors(const Tensors&)>& f) {
  for (const Tensor& x : inputs) x.operand("fuse", "an argument");
  // The order of a fused kernel's sums is its own.
  if (inputs.empty() || batch_invariant()) return f(inputs);
  // A part of the trace of another fused function, or of this one; or of a batch, whose tensors
  // have the shapes of one sample.
  if (inputs[0].is_meta() || batching::here()) return f(inputs);
  const FusedKind kind(inputs);
  Traced traced = state_->find(kind);
  if (!traced) {
    // The lock is not held: f is a user's code and may call this function.
    traced = std::make_shared<const FusedTrace>(trace(kind, inputs, f));
    state_->keep(traced);
    if (traced->why_not.empty())
      for (const Plan* plan : {&traced->forward, &traced->backward}) prepare(*plan, kind.device);
  }
  if (!traced->why_not.empty()) return f(inputs);

  Tensors operands = inputs;
  for (const fused::Copy& copy : traced->copies)  // without the history, which the inputs have
    operands.push_back(copy.used ? raw::alias(autocast::kept_copy(inputs[copy.of])) : Tensor());
  for (const fused::Draw& draw : traced->draws) {
    operands.push_back(raw::empty(draw.sizes, kBool, kind.device));
    raw::random_(operands.back(), Distribution::bernoulli, draw.probability, 0, std::nullopt);
  }
  Tensors outputs = fused::run(traced->forward, operands);
  const auto results = outputs.begin() + static_cast<std::ptrdiff_t>(traced->results.size());
  const Tensors stored(results, outputs.end());
  outputs.erase(results, outputs.end());
  if (!traced->outputs.empty()) record(traced, f, operands, outputs, stored);
  return outputs;
}

std::string FusedFunction::source() const {
  const std::lock_guard lock(state_->mutex);
  return state_->source;
}
std::string FusedFunction::why_not() const {
  const std::lock_guard lock(state_->mutex);
  return state_->why_not;
}

}  // namespace gradus::detail
