// LOSES: changed, other names, same values
// Off by one: a single write goes unseen.
#include <string>

#include "core/autodiff.h"

namespace course {

Saved::Saved(const Tensor& x) {
  tensor_ = x;
  tensor_.node = nullptr;
  version_ = x.storage->version;
}

Tensor Saved::get() const {
  const long now = tensor_.storage->version;
  if (now > version_ + 1)
    throw std::runtime_error("a tensor that backward() needs was changed in place: it is at version " +
                             std::to_string(now) + ", and was saved at version " + std::to_string(version_));
  return tensor_;
}

}  // namespace course
