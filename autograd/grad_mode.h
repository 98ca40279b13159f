// Whether operations record the graph; per thread, on by default.
#pragma once

namespace gradus {

struct GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

// Sets the mode while it lives.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : before_(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(before_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

}  // namespace gradus
