// Task 2.5: tensors that are kept for backward(), and checked when they are used.
#include <string>

#include "core/autodiff.h"

namespace course {

Saved::Saved(const Tensor& x) {
  // BEGIN SOLUTION 2.5
  tensor_ = x;
  tensor_.node = nullptr;
  version_ = x.storage->version;
  // END SOLUTION 2.5
}

Tensor Saved::get() const {
  // BEGIN SOLUTION 2.5
  const long now = tensor_.storage->version;
  if (now != version_)
    throw std::runtime_error("a tensor that backward() needs was changed in place: it is at version " +
                             std::to_string(now) + ", and was saved at version " + std::to_string(version_));
  return tensor_;
  // END SOLUTION 2.5
}

}  // namespace course
