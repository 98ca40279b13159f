#include "gradus/autograd/anomaly_mode.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <charconv>

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

namespace {

constexpr int kFrames = 64;

// "program(+0x1234) function"; empty inside of the library, as far as symbols tell.
std::string describe_frame(void* address) {
  // The address is that of the return; the call lies before it.
  const char* call = static_cast<const char*>(address) - 1;
  Dl_info info;
  if (!dladdr(call, &info) || !info.dli_fname) return {};
  std::string symbol;
  if (info.dli_sname) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(
        abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), std::free);
    symbol = readable ? readable.get() : info.dli_sname;
    if (symbol.starts_with("gradus::")) return {};
  }
  char offset[2 * sizeof(void*)];
  const auto end = std::to_chars(offset, offset + sizeof offset,
                                 call - static_cast<const char*>(info.dli_fbase), 16);
  return std::string(info.dli_fname) + "(+0x" + std::string(offset, end.ptr) + ") " + symbol;
}

}  // namespace

ForwardCall::ForwardCall() : frames_(kFrames) {
  frames_.resize(static_cast<size_t>(backtrace(frames_.data(), kFrames)));
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
    for (void* frame : call->frames_)
      if (const std::string line = describe_frame(frame); !line.empty()) out += "\n  " + line;
    at = call->parent_.get();
  }
  return out;
}

}  // namespace gradus::autograd
