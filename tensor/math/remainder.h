// Remainders without a division.
#pragma once

#include <cstdint>

#include "gradus/tensor/base/host_device.h"

namespace gradus {

// n % divisor. Barrett, "Implementing the Rivest Shamir and Adleman public key encryption algorithm
// on a standard digital signal processor" (CRYPTO 1986): the quotient by a reciprocal that is
// rounded down is too small by one at most. REQUIRES: divisor is not 0.
class Remainder {
 public:
  explicit Remainder(uint64_t divisor) : divisor_(divisor), reciprocal_(~uint64_t{0} / divisor) {}
  GRADUS_HD uint64_t operator()(uint64_t n) const {
    const auto quotient = static_cast<uint64_t>(Wide{reciprocal_} * n >> 64);
    const uint64_t rest = n - quotient * divisor_;
    return rest >= divisor_ ? rest - divisor_ : rest;
  }

 private:
  __extension__ typedef unsigned __int128 Wide;

  uint64_t divisor_, reciprocal_;
};

}  // namespace gradus
