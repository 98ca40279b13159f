#include "gradus/autograd/anomaly_mode.h"

#include <execinfo.h>

#include "gradus/autograd/code_place.h"
#include "gradus/autograd/graph_task.h"
#include "gradus/autograd/node.h"

namespace gradus::autograd {

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : enabled_before_(AnomalyMode::is_enabled()),
      check_nan_before_(AnomalyMode::should_check_nan()) {
  AnomalyMode::set_enabled(true, check_nan);
}

DetectAnomalyGuard::~DetectAnomalyGuard() {
  AnomalyMode::set_enabled(enabled_before_, check_nan_before_);
}

ForwardCall::ForwardCall() : frames_(64) {
  frames_.resize(static_cast<size_t>(backtrace(frames_.data(), static_cast<int>(frames_.size()))));
  if (Node* parent = evaluating_node()) parent_ = parent->getptr();
}

std::string ForwardCall::describe(const Node& node) {
  std::string out;
  const char* what = "Forward call of ";
  for (const Node* at = &node; at; what = "It was recorded in the backward of ") {
    out += std::string("\n") + what + at->name() + ", operation " +
           std::to_string(at->sequence_nr()) + " of its thread, result";
    for (uint32_t i = 0; i < at->num_inputs(); ++i) {
      out += ' ';
      append(out, at->meta(i).sizes);
    }
    const ForwardCall* call = at->forward_call();
    if (!call) return out + ": not known, as the anomaly mode was off";
    out += ':';
    for (const std::string& place : code_places(call->frames_)) out += "\n  " + place;
    at = call->parent_.get();
  }
  return out;
}

}  // namespace gradus::autograd
