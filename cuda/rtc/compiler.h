// What compiles and loads programs: NVRTC (nvrtc.cpp) or the simulator's g++ (simulated.cpp).
#pragma once

#include <string>
#include <vector>

#include "gradus/cuda/rtc/source.h"

namespace gradus::cuda::rtc {

struct Job {
  const Source& source;
  const std::vector<std::string>& kernels;
  const std::vector<std::string>& options;
  int architecture;  // compute capability, 90 for 9.0
};

// What the result depends on beside the job: the compiler, its version, its headers.
std::string compiler_version();

// The compiled program. Errors: CompileError; Error without a compiler.
std::string compile(const Job& job);
// The kernels of the job, in its order. Errors: Error where the program cannot be loaded.
std::vector<const void*> load(const std::string& program, const Job& job);

// A #line directive: the next line is this one of that file.
std::string line_directive(const std::string& file, int line);

}  // namespace gradus::cuda::rtc
