// Sizes that are computed from options: sums, differences and products that remember an overflow.
#pragma once

#include <cstdint>
#include <string_view>

#include "gradus/tensor/base/error.h"

namespace gradus {

// An int64 that becomes invalid where a result does not fit, and stays so.
class Checked {
 public:
  constexpr Checked(int64_t value) : value_(value) {}  // NOLINT: implicit

  friend constexpr Checked operator+(Checked a, Checked b) {
    const bool over = __builtin_add_overflow(a.value_, b.value_, &a.value_);
    return {a.value_, a.fits_ && b.fits_ && !over};
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    const bool over = __builtin_sub_overflow(a.value_, b.value_, &a.value_);
    return {a.value_, a.fits_ && b.fits_ && !over};
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    const bool over = __builtin_mul_overflow(a.value_, b.value_, &a.value_);
    return {a.value_, a.fits_ && b.fits_ && !over};
  }

  constexpr bool fits() const { return fits_; }
  // Errors: ValueError of this operation where a result did not fit; `what` names the size.
  int64_t get(std::string_view op, std::string_view what) const {
    check(fits_, op, ": ", what,
          ", computed from the sizes and options, does not fit into an int64",
          "; use smaller numbers");
    return value_;
  }

 private:
  constexpr Checked(int64_t value, bool fits) : value_(value), fits_(fits) {}

  int64_t value_;
  bool fits_ = true;
};

}  // namespace gradus
