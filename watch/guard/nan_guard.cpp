// NanGuard: its life, and the guard that the environment asks for.
#include "gradus/watch/guard/nan_guard.h"

#include <cstdlib>
#include <cstring>

#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/nonfinite.h"
#include "gradus/watch/guard/nan_watcher.h"

namespace gradus {

NanGuard::NanGuard(Callback callback)
    : state_(std::make_shared<State>(State{std::move(callback)})) {
  guarding::NanWatcher::get().add(state_);
}

NanGuard::~NanGuard() {
  try {
    cuda_finish_nonfinite();
  } catch (const Error& error) {
    warn(error.what());
  }
  guarding::NanWatcher::get().remove(state_);
}

void NanGuard::check() { cuda_finish_nonfinite(); }

void NanGuard::reset() { guarding::NanWatcher::get().reset(state_); }

bool detail::start_nan_guard_of_environment() {
  const char* const value = std::getenv("GRADUS_NAN_GUARD");
  if (!value || std::strcmp(value, "1") != 0) return false;
  new NanGuard;  // until the program ends
  return true;
}

}  // namespace gradus
