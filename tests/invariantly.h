// Results that do not depend on the batch, or may, while an object lives.
#pragma once

#include "gradus/tensor/base/batch_invariant.h"

namespace gradus {

class Invariantly {
 public:
  explicit Invariantly(bool on = true) { detail::set_batch_invariant(on); }
  ~Invariantly() { detail::set_batch_invariant(before_); }
  Invariantly(const Invariantly&) = delete;
  Invariantly& operator=(const Invariantly&) = delete;

 private:
  const bool before_ = detail::batch_invariant();
};

}  // namespace gradus
