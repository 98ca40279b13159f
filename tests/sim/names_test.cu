// Findings also name kernels whose names and files resemble those of the simulator.
#include "tests/sim/sim_test.h"

namespace gradus {
namespace cuda {

__global__ void launched_kernel(int* data) { data[1] = 1; }

namespace sim {
__global__ void simulated_kernel(int* data) { data[1] = 1; }
}  // namespace sim
}  // namespace cuda

namespace {

using SimNamesTest = SimFindingsTest;

template <class T>
void expect_named(void (*kernel)(T*), const char* name, const char* file) {
  const DeviceArray<T> data(1);
  launch(kernel, {1, 1}, data);
  const std::vector<cuda::sim::Finding> found = cuda::sim::take_findings();
  ASSERT_EQ(found.size(), 1u);
  ASSERT_FALSE(found[0].sides.empty());
  const std::vector<cuda::sim::Frame>& frames = found[0].sides[0].frames;
  ASSERT_EQ(frames.size(), 1u) << found[0];
  EXPECT_EQ(frames[0].function, name);
  EXPECT_TRUE(frames[0].file.ends_with(file)) << frames[0].file;
}

TEST_F(SimNamesTest, OfKernels) {
  expect_named(cuda::launched_kernel, "gradus::cuda::launched_kernel", "tests/sim/names_test.cu");
  expect_named(cuda::sim::simulated_kernel, "gradus::cuda::sim::simulated_kernel",
               "tests/sim/names_test.cu");
}

// The #line below puts the rest into another folder.
#line 7 "/home/somebody/cuda/sim/kernel.cu"
__global__ void elsewhere_kernel(int* data) { data[1] = 1; }

TEST_F(SimNamesTest, OfFiles) {
  expect_named(elsewhere_kernel, "elsewhere_kernel", "/home/somebody/cuda/sim/kernel.cu");
}

}  // namespace
}  // namespace gradus
