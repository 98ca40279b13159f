// Names the forward call in an error of a backward pass.
#include "gradus/autograd/engine/anomaly_mode.h"

#include "gradus/autograd/engine/call_stack.h"
#include "gradus/autograd/engine/code_place.h"
#include "gradus/autograd/engine/graph_task.h"
#include "gradus/autograd/engine/node.h"
#include "gradus/tensor/base/warning.h"

namespace gradus::autograd {

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : enabled_before_(AnomalyMode::is_enabled()),
      check_nan_before_(AnomalyMode::should_check_nan()) {
  AnomalyMode::set_enabled(true, check_nan);
}

DetectAnomalyGuard::~DetectAnomalyGuard() {
  AnomalyMode::set_enabled(enabled_before_, check_nan_before_);
}

ForwardCall::ForwardCall() : frames_(call_stack()) {
  if (Node* parent = evaluating_node()) parent_ = parent->getptr();
  if (module_of_call) module_ = *module_of_call;
}

void ForwardCall::report(const Node& node, Error& error) {
  const auto describe = [](const Node& of) {
    std::string out = "\nForward call of " + of.name() + ", operation " +
                      std::to_string(of.sequence_nr()) + " of its thread, result";
    for (uint32_t i = 0; i < of.num_inputs(); ++i) {
      out += ' ';
      append(out, of.meta(i).sizes);
    }
    const ForwardCall* call = of.forward_call();
    if (!call) return out + ": not known, as the anomaly mode was off";
    out += ':';
    for (const std::string& place : code_places(call->frames_)) out += "\n  " + place;
    return out;
  };
  const std::string call = describe(node);
  warn("Error detected in " + node.label() +
       ". Traceback of forward call that caused the error:" + call);
  error.add_context(call);
  const Node* at = &node;
  while (at->forward_call() && at->forward_call()->parent_) {
    at = at->forward_call()->parent_.get();
    const std::string before = describe(*at);
    warn("Previous calculation was induced by " + at->label() +
         ". Traceback of forward call that induced the previous calculation:" + before);
    error.add_context("\nIt was recorded in the backward of " + at->label() + "." + before);
  }
}

}  // namespace gradus::autograd
