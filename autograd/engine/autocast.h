// Autocast: while it is on, operations compute in the types that suit them. Products take float16
// or bfloat16, sums and losses float32: autocast.def lists them. A conversion is recorded, so the
// gradient of a float32 parameter is float32. Each thread has its own state.
#pragma once

#include <optional>

#include "gradus/tensor/base/modes.h"

namespace gradus {

// at::autocast, with libtorch's names. These settings stay; amp::autocast sets them for a scope.
namespace autocast {

bool is_autocast_enabled(DeviceType device_type);
void set_autocast_enabled(DeviceType device_type, bool enabled);
// The type of products: at first bfloat16 on the CPU, float16 on CUDA.
ScalarType get_autocast_dtype(DeviceType device_type);
// Errors: TypeError unless dtype is float16 or bfloat16.
void set_autocast_dtype(DeviceType device_type, ScalarType dtype);

// Whether autocast keeps the conversion of a leaf that requires grad, such as a weight. It is used
// again until clear_cache(), or until the leaf changes.
bool is_autocast_cache_enabled();
void set_autocast_cache_enabled(bool enabled);
void clear_cache();
// Scopes that this thread has entered and not left; both return how many there are now. Leaving the
// last one clears the cache.
int increment_nesting();
int decrement_nesting();

// Puts back the state that it found.
class StateGuard {
 public:
  StateGuard() = default;
  explicit StateGuard(const AutocastMode& mode) { thread_modes.autocast = mode; }
  ~StateGuard() { thread_modes.autocast = before_; }
  StateGuard(const StateGuard&) = delete;
  StateGuard& operator=(const StateGuard&) = delete;

 private:
  AutocastMode before_ = thread_modes.autocast;
};

// Operations compute as without autocast while it lives.
struct Pause : StateGuard {
  Pause() { thread_modes.autocast.casts = false; }
};

// A scope that counts: the outermost one clears the cache at its end.
struct Scope : StateGuard {
  Scope() { increment_nesting(); }
  explicit Scope(const AutocastMode& mode) : StateGuard(mode) { increment_nesting(); }
  ~Scope() {
    if (decrement_nesting() == 0) clear_cache();
  }
};

}  // namespace autocast

namespace amp {

// torch.amp.autocast of Python, as a guard:
//
//   amp::autocast guard(kCUDA, kBFloat16);
//   auto loss = mse(model(x), y);
class autocast {
 public:
  // dtype: get_autocast_dtype() where none is given. `enabled` = false turns it off for a part of
  // an outer scope. Errors: TypeError unless dtype is float16 or bfloat16.
  explicit autocast(DeviceType device_type, std::optional<ScalarType> dtype = std::nullopt,
                    bool enabled = true, std::optional<bool> cache_enabled = std::nullopt);

 private:
  gradus::autocast::Scope scope_;
};

}  // namespace amp
}  // namespace gradus
