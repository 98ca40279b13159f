// Whether operations record the graph; per thread, on by default.
#pragma once

#include "gradus/tensor/base/modes.h"

namespace gradus {

struct GradMode {
  static bool is_enabled() { return thread_modes.grad; }
  static void set_enabled(bool enabled) { thread_modes.grad = enabled; }
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

// During its life (if `enabled`) nothing is recorded, and new tensors are inference tensors. An
// inference tensor cannot be saved for a backward pass, and can be changed in place only under
// InferenceMode.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true) : before_(thread_modes) {
    thread_modes.grad = !enabled;
    thread_modes.inference = enabled;
  }
  ~InferenceMode() {
    thread_modes.grad = before_.grad;
    thread_modes.inference = before_.inference;
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

  static bool is_enabled() { return thread_modes.inference; }

 private:
  ThreadModes before_;
};

namespace autograd {
using gradus::AutoGradMode, gradus::GradMode, gradus::InferenceMode;
}

}  // namespace gradus
