// Warnings: the program runs on, and probably contains a mistake. The names are libtorch's.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace gradus {

struct SourceLocation {
  const char* function;
  const char* file;
  uint32_t line;
};

// Takes the warnings of a thread. The base writes them to stderr.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  // verbatim: the message is printed without the place in the source.
  virtual void process(const SourceLocation& source, const std::string& message, bool verbatim);
};

struct Warning {
  static void warn(const SourceLocation& source, const std::string& message, bool verbatim = false);

  // The handler of this thread: stderr's by default, and where null is set.
  // REQUIRES: the handler lives until another one is set.
  static void set_warning_handler(WarningHandler* handler) noexcept;
  static WarningHandler* get_warning_handler() noexcept;

  // Whether TORCH_WARN_ONCE warns every time. Default false; for all threads.
  static void set_warnAlways(bool value) noexcept;
  static bool get_warnAlways() noexcept;

  // Sets it while it lives.
  class WarnAlways {
   public:
    explicit WarnAlways(bool value = true) : before_(get_warnAlways()) { set_warnAlways(value); }
    ~WarnAlways() { set_warnAlways(before_); }
    WarnAlways(const WarnAlways&) = delete;
    WarnAlways& operator=(const WarnAlways&) = delete;

   private:
    bool before_;
  };
};

// Warns without a place in the source. The message names the operation.
void warn(const std::string& message);
// Whether to print a warning that is printed once: this is the first call with `warned`, or
// warnings are to be repeated.
bool warns_again(std::atomic<bool>& warned);

}  // namespace gradus
