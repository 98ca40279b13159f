// Where warnings go: to the handler of the thread, or to stderr.
#include "gradus/tensor/base/warning.h"

#include <atomic>
#include <cstdio>

namespace gradus {

namespace {
WarningHandler to_stderr;
constinit thread_local WarningHandler* handler_of_thread = &to_stderr;
std::atomic<bool> always = false;
}  // namespace

void WarningHandler::process(const SourceLocation& source, const std::string& message,
                             bool verbatim) {
  if (verbatim)
    std::fprintf(stderr, "Warning: %s\n", message.c_str());
  else
    std::fprintf(stderr, "[W %s:%u] Warning: %s (function %s)\n", source.file, source.line,
                 message.c_str(), source.function);
}

void Warning::warn(const SourceLocation& source, const std::string& message, bool verbatim) {
  handler_of_thread->process(source, message, verbatim);
}

void Warning::set_warning_handler(WarningHandler* handler) noexcept {
  handler_of_thread = handler ? handler : &to_stderr;
}
WarningHandler* Warning::get_warning_handler() noexcept { return handler_of_thread; }
void Warning::set_warnAlways(bool value) noexcept { always = value; }
bool Warning::get_warnAlways() noexcept { return always; }

void warn(const std::string& message) { Warning::warn({"", "", 0}, message, /*verbatim=*/true); }

bool warns_again(std::atomic<bool>& warned) {
  return !warned.exchange(true) || Warning::get_warnAlways();
}

}  // namespace gradus
