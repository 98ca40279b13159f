// Times operations of one source that is built against gradus and against libtorch. The programs
// run with as many threads as OMP_NUM_THREADS says, and take turns (bench/in_turns.py):
//
//   bench_NAME [--wait] [--device DEVICE] [PART]
//     the cases whose names contain PART; with --wait it says "ready" before each of them, and
//     waits for a line
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#ifdef GRADUS_VERSION
#include "bench/config.h"
#endif

namespace turns {

#ifdef GRADUS_VERSION
using bench::print_config;
inline constexpr const char* kWho = "gradus";
#else
inline void print_config() {}
inline constexpr const char* kWho = "libtorch";
#endif

// The device on which tensors are made.
inline torch::TensorOptions on;

using Clock = std::chrono::steady_clock;

template <class F>
double seconds_of(const F& f, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) f();
  if (on.device().is_cuda()) torch::cuda::synchronize();
  return std::chrono::duration<double>(Clock::now() - start).count() / calls;
}

// The first half second is slower: clocks rise, and threads of libraries still spin.
inline void warm_up() {
  const torch::Tensor x = torch::rand({1000}, on);
  const auto start = Clock::now();
  while (Clock::now() - start < std::chrono::seconds(1))
    seconds_of([&] { return torch::exp(x); }, 1000);
}

inline bool waits = false;
inline std::string wanted;

inline void read_arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == std::string("--wait"))
      waits = true;
    else if (argv[i] == std::string("--device") && i + 1 < argc)
      on = on.device(std::string(argv[++i]));
    else
      wanted = argv[i];
  if (!waits) print_config();
}

inline void wait_for_turn() {
  std::string line;
  if (waits && !(std::cout << "ready" << std::endl && std::getline(std::cin, line))) std::exit(1);
  static const bool warm = (warm_up(), true);
  static_cast<void>(warm);
}

// The best of several rounds of about 4 ms. Other programs on the machine make some rounds longer.
template <class F>
void time(const std::string& name, const F& f) {
  if (name.find(wanted) == std::string::npos) return;
  wait_for_turn();
  try {
    f();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return;
  }
  const double once = std::max(seconds_of(f, 3), 1e-9);
  const int calls = static_cast<int>(std::clamp(0.004 / once, 1.0, 1e5));
  double best = seconds_of(f, calls);
  for (int round = 1; round < 7; ++round) best = std::min(best, seconds_of(f, calls));
  std::printf("%s\t%s\t%.9g\t1\top\n", name.c_str(), kWho, best);
  std::fflush(stdout);
}

}  // namespace turns
