// Medians of repeated runs, printed as tab-separated lines that bench/table.py makes a table of.
#pragma once

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/clock.h"
#include "bench/config.h"
#include "gradus/gradus.h"

namespace bench {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Seconds per call of f on the host's clock: the median over `rounds` of `calls` calls each.
// `finish` runs at the end of every round, inside the measured time.
template <class F, class G>
double host_seconds(F f, int rounds, int calls, G finish) {
  std::vector<double> times;
  for (int round = -1; round < rounds; ++round) {  // one round to warm up
    const double start = seconds_now();
    for (int i = 0; i < calls; ++i) f();
    finish();
    if (round >= 0) times.push_back((seconds_now() - start) / calls);
  }
  return median(times);
}
template <class F>
double host_seconds(F f, int rounds, int calls) {
  return host_seconds(f, rounds, calls, [] {});
}

// Seconds per call of f on the device, between two events.
template <class F>
double device_seconds(F f, int rounds = 20) {
  for (int i = 0; i < 3; ++i) f();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    gradus::cuda::Event start(/*enable_timing=*/true), end(/*enable_timing=*/true);
    start.record();
    f();
    end.record();
    end.synchronize();
    times.push_back(static_cast<double>(start.elapsed_time(end)) * 1e-3);
  }
  return median(times);
}

// who: gradus, pytorch, cublas ...; work: bytes or operations per call, in `unit` per second.
inline void report(const char* name, const char* who, double seconds, double work,
                   const char* unit) {
  static const bool first = (print_config(), true);
  static_cast<void>(first);
  std::printf("%s\t%s\t%.9g\t%.9g\t%s\n", name, who, seconds, work, unit);
  std::fflush(stdout);
}

}  // namespace bench
