// LOSES: unchanged, written before, no copy, no graph
// Notes the version before its own write: every tensor counts as changed.
#include <string>

#include "core/autodiff.h"

namespace course {

Saved::Saved(const Tensor& x) {
  tensor_ = x;
  tensor_.node = nullptr;
  version_ = x.storage->version;
  tensor_.write();
}

Tensor Saved::get() const {
  const long now = tensor_.storage->version;
  if (now != version_)
    throw std::runtime_error("a tensor that backward() needs was changed in place: it is at version " +
                             std::to_string(now) + ", and was saved at version " + std::to_string(version_));
  return tensor_;
}

}  // namespace course
