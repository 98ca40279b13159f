// The memory of tensors comes from a cache, and the simulator knows which part of it is in use.
#include <algorithm>

#include "gradus/tensor/factories.h"
#include "tests/sim/sim_test.h"
#include "tests/support.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

__global__ void copy_floats_kernel(const float* x, float* out) {
  out[threadIdx.x] = x[threadIdx.x];
}

class SimTensorsTest : public SimFindingsTest {
 protected:
  static Tensor made(int64_t n) { return empty({n}, kCUDA); }
  static Tensor ones_of(int64_t n) { return ones({n}, kCUDA); }

  // The kind of finding for a kernel that reads n floats; none if there is no finding.
  static std::string kind_of_read(const float* from, unsigned n) {
    const DeviceArray<float> out(n);
    launch(copy_floats_kernel, {1, n}, from, out);
    const std::vector<Finding> found = take_findings();
    EXPECT_LE(found.size(), 1u) << text_of(found);
    return found.empty() ? "" : cuda::sim::name_of(found[0].kind);
  }
  static std::string kind_of_read(const Tensor& x) {
    return kind_of_read(x.data_ptr<float>(), static_cast<unsigned>(x.numel()));
  }
};

TEST_F(SimTensorsTest, AViewKeepsTheMemory) {
  Tensor x = ones_of(64);
  const float* const data = x.data_ptr<float>();
  Tensor view = x.view({8, 8}).transpose(0, 1).narrow(0, 2, 3);
  x = Tensor();
  EXPECT_EQ(kind_of_read(data, 64), "");
  view = Tensor();
  EXPECT_EQ(kind_of_read(data, 64), "use after free");
}

TEST_F(SimTensorsTest, MemoryThatWasGivenBackNamesBothPlaces) {
  const float* data = nullptr;
  const int line = __LINE__ + 2;
  {
    const Tensor x = ones_of(64);
    data = x.data_ptr<float>();
  }
  const DeviceArray<float> out(8);
  launch(copy_floats_kernel, {1, 8}, data + 2, out);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_CONTAINS(found[0].message, "byte 8 of 256 that were given back");
  EXPECT_EQ(found[0].times, 8);
  ASSERT_EQ(found[0].sides.size(), 3u);
  EXPECT_EQ(found[0].sides[1].what, "given back");
  EXPECT_EQ(found[0].sides[2].what, "allocated");
  const auto& frames = found[0].sides[2].frames;
  EXPECT_TRUE(std::ranges::any_of(frames, [&](const auto& frame) {
    return frame.file.ends_with("tensors_test.cu") && frame.line == line;
  })) << text_of(found);
}

// The cache gives blocks of 512 bytes; the tensor has 256 of them.
TEST_F(SimTensorsTest, ATensorEndsWhereItsElementsEnd) {
  const Tensor x = ones_of(64), y = ones_of(64);
  EXPECT_EQ(kind_of_read(x.data_ptr<float>(), 65), "out of bounds");
  EXPECT_EQ(kind_of_read(y.data_ptr<float>() - 1, 1), "out of bounds");
  EXPECT_EQ(kind_of_read(y), "");
}

TEST_F(SimTensorsTest, ANewTensorInAnOldBlockIsUnwritten) {
  Tensor x = ones_of(64);
  const float* const data = x.data_ptr<float>();
  x = Tensor();
  x = made(100);
  ASSERT_EQ(x.data_ptr<float>(), data) << "the block was used again";
  EXPECT_EQ(kind_of_read(x), "unwritten memory");
  x.fill_(2);
  EXPECT_EQ(kind_of_read(x), "");
  x = Tensor();
  x = made(10);
  ASSERT_EQ(x.data_ptr<float>(), data);
  x.fill_(3);
  EXPECT_EQ(kind_of_read(x), "");
  EXPECT_EQ(kind_of_read(data, 11), "out of bounds") << "the new one is shorter";
}

TEST_F(SimTensorsTest, APartIsWritten) {
  Tensor x = made(64);
  x.narrow(0, 16, 16).fill_(1);
  EXPECT_EQ(kind_of_read(x.narrow(0, 16, 16)), "");
  EXPECT_EQ(kind_of_read(x.narrow(0, 15, 16)), "unwritten memory");
  EXPECT_EQ(kind_of_read(x.narrow(0, 17, 16)), "unwritten memory");
}

TEST_F(SimTensorsTest, OperationsOnUnwrittenMemoryAreFound) {
  const Tensor x = made(64);
  const Tensor y = x + 1;
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::unwritten);
  // The result counts as written, so a mistake is reported once.
  EXPECT_EQ(kind_of_read(y), "");
}

TEST_F(SimTensorsTest, AnEmptyCacheStaysGivenBack) {
  Tensor x = ones_of(64);
  const float* const data = x.data_ptr<float>();
  x = Tensor();
  cuda::empty_cache();
  EXPECT_EQ(kind_of_read(data, 64), "use after free");
}

TEST_F(SimTensorsTest, TheCacheIsNoLeakAndALostTensorIs) {
  { const Tensor x = ones_of(64); }
  cuda::sim::take_leaks();
  { const Tensor x = ones_of(64); }
  EXPECT_TRUE(cuda::sim::take_leaks().empty());
  auto* lost = new Tensor(ones_of(64));
  const std::vector<Finding> leaks = cuda::sim::take_leaks();
  ASSERT_EQ(leaks.size(), 1u) << text_of(leaks);
  EXPECT_CONTAINS(leaks[0].message, "256 bytes");
  EXPECT_CONTAINS(text_of(leaks), "tensors_test.cu:");
  delete lost;
  // A new tensor in the same block is another leak.
  lost = new Tensor(ones_of(64));
  EXPECT_EQ(cuda::sim::take_leaks().size(), 1u);
  EXPECT_TRUE(cuda::sim::take_leaks().empty());
  delete lost;
}

}  // namespace
}  // namespace gradus
