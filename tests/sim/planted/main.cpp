// planted --list: the bugs and their kinds. planted NAME: runs one, for a tool that looks on.
#include <cstdio>
#include <exception>
#include <string_view>

#include "tests/sim/planted/planted.h"

namespace {

int run(const gradus::planted::Planted& bug) {
  int status = 0;
  try {
    bug.run();
    gradus::cuda::check_cuda(cudaDeviceSynchronize(), "the end of ", bug.name);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  cudaDeviceReset();  // compute-sanitizer looks for leaks when the device's context goes
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc == 2 ? argv[1] : "";
  if (wanted == "--list") {
    for (const auto& bug : gradus::planted::planted_bugs())
      std::printf("%s %s\n", bug.name, *bug.kind ? bug.kind : "-");
    return 0;
  }
  for (const auto& bug : gradus::planted::planted_bugs())
    if (bug.name == wanted) return run(bug);
  std::fprintf(stderr, "there is no bug '%s'; usage: planted --list | planted NAME\n",
               argc == 2 ? argv[1] : "");
  return 2;
}
