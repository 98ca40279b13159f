// The clock of the CPU's cases: that of the wall, or with BENCH_CLOCK=processor the time that the
// program's threads ran, for a machine whose cores other programs share (with one thread).
#pragma once

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace bench {

inline double seconds_now() {
  static const char* const chosen = std::getenv("BENCH_CLOCK");
  static const bool processor = chosen && std::string_view(chosen) == "processor";
  if (processor) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace bench
