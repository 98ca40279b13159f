// Warnings: what a program may want to mend, although it runs. The names are libtorch's.
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

// Takes the warnings of a thread. This one writes them to stderr.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  // verbatim: the place is of no use to the reader.
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

// Warns in the name of an operation, whose place no reader asks for.
void warn(const std::string& message);
// Whether to warn of what is said once: the first time that `warned` is seen, or always.
bool warns_again(std::atomic<bool>& warned);

}  // namespace gradus
