// What random numbers are made of, many at a time.
#pragma once

#include <bit>
#include <cstdint>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// Elements whose bits are drawn at once.
inline constexpr int64_t kPiece = 256;

// For one instruction set.
struct Draws {
  // bits[i] = philox::words(seed, counter, i) for i < kPiece.
  void (*bits)(uint64_t seed, uint64_t counter, uint64_t* bits);
  // The parts of philox::normal before and after its logarithm and cosine.
  void (*polar)(int64_t n, const uint64_t* bits, double* radius, double* angle);
  void (*project)(int64_t n, const double* log_radius, const double* cosine, double mean,
                  double deviation, double* out);
};

// REQUIRES: the processor runs the set.
const Draws& draws_of(InstructionSet set);

// n % divisor without a division: Granlund and Montgomery, "Division by invariant integers using
// multiplication" (PLDI 1994), figure 4.1. REQUIRES: divisor is not 0.
class Remainder {
 public:
  explicit Remainder(uint64_t divisor)
      : divisor_(divisor), all_(64 - std::countl_zero(divisor - 1)), first_(all_ > 0 ? 1 : 0) {
    const Wide excess = (Wide{1} << all_) - divisor;
    factor_ = static_cast<uint64_t>((excess << 64) / divisor) + 1;
  }
  uint64_t operator()(uint64_t n) const {
    const auto high = static_cast<uint64_t>(Wide{factor_} * n >> 64);
    return n - ((high + ((n - high) >> first_)) >> (all_ - first_)) * divisor_;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  uint64_t divisor_, factor_ = 0;
  int all_, first_;
};

}  // namespace gradus::cpu
