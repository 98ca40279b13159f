// What show_config() says of this build.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "gradus/compat/torch/torch.h"

namespace gradus {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ShowConfig, TheFirstLineHasWhatSpeedDependsOn) {
  std::istringstream lines(show_config());
  std::string first;
  ASSERT_TRUE(std::getline(lines, first));
  EXPECT_TRUE(first.starts_with("Gradus " GRADUS_VERSION ", ")) << first;
  for (const char* name : {"CPU", "OpenBLAS", "CUDA", "Hopper kernels"})
    EXPECT_TRUE(has(first, ", " + std::string(name) + " ")) << name << " in: " << first;
  const char* const choice = std::getenv("GRADUS_CPU");
  if (choice) {
    EXPECT_TRUE(has(first, ", CPU " + std::string(choice) + ",")) << first;
  }
}

TEST(ShowConfig, EachFurtherLineSaysOneThing) {
  const std::string all = show_config();
  std::istringstream lines(all);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) EXPECT_TRUE(line.starts_with("  ") && has(line, ": ")) << line;
  for (const char* name :
       {"instruction sets", "OpenBLAS", "cuBLAS", "cuDNN", "NCCL", "MPI", "PNG", "JPEG"})
    EXPECT_TRUE(has(all, "\n  " + std::string(name) + ": ")) << name << " in\n" << all;
}

TEST(ShowConfig, HasLibtorchsNames) {
  EXPECT_EQ(torch::show_config(), show_config());
  EXPECT_EQ(at::show_config(), show_config());
}

}  // namespace
}  // namespace gradus
