// Devices in a forked process: CUDA does not work there once it was used, and the error says so.
// Simulated devices work on.
#include <functional>
#include <string>
#include <utility>

#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"
#include "tests/forked.h"

namespace gradus {
namespace {

using ForkTest = GpuTest;

TEST_F(ForkTest, EveryUseInAChildWorksOrSaysWhyNot) {
  const Tensor x = arange(6, kFloat), on_device = x.to(kCUDA);
  cuda::synchronize();
  const std::pair<const char*, std::function<bool()>> uses[] = {
      {"compute", [&] { return (on_device + 1).sum().item<double>() == 21; }},
      {"allocate", [] { return empty({int64_t{1} << 26}, kCUDA).is_cuda(); }},
      {"copy to the device", [&] { return equal(x.to(kCUDA).cpu(), x); }},
      {"copy to the host", [&] { return equal(on_device.cpu(), x); }},
      {"synchronize", [] { return cuda::synchronize(), true; }},
  };
  for (const auto& [name, use] : uses) {
    SCOPED_TRACE(name);
    const std::string said = test::said_in_child([&use] {
      try {
        return std::string(use() ? "good" : "wrong");
      } catch (const Error& error) {
        return std::string(error.what());
      }
    });
    if (kSimulated)
      EXPECT_EQ(said, "good");
    else
      EXPECT_CONTAINS(said, "forked after its first use: start a fresh one");
  }
  EXPECT_TRUE(equal(on_device.cpu(), x));
}

}  // namespace
}  // namespace gradus
