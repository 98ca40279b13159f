#include <gtest/gtest.h>

#include <cstring>

#include "gradus/tensor/backend.h"

namespace gradus {
namespace {

TEST(CpuStorage, HoldsItsBytesOnTheCpu) {
  for (size_t nbytes : {0, 1, 1023, 1024, 5000, 20'000'001}) {
    const StoragePtr storage = cpu_backend().allocate(nbytes, Device(kCPU));
    ASSERT_NE(storage->data(), nullptr);
    EXPECT_EQ(storage->nbytes(), nbytes);
    EXPECT_EQ(storage->device(), Device(kCPU));
    std::memset(storage->data(), 7, nbytes);
  }
}

TEST(CpuStorage, LargeBlocksStartAtACacheLine) {
  for (size_t nbytes : {1024, 1100, 4096, 100'000, 20'000'000}) {
    const StoragePtr storage = cpu_backend().allocate(nbytes, Device(kCPU));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % 64, 0u) << nbytes;
  }
}

TEST(CpuStorage, SaysHowMuchIsMissing) {
  for (size_t nbytes : {size_t{1} << 62, SIZE_MAX}) {
    try {
      cpu_backend().allocate(nbytes, Device(kCPU));
      FAIL() << "expected OutOfMemoryError";
    } catch (const OutOfMemoryError& error) {
      EXPECT_NE(error.msg().find(std::to_string(nbytes) + " bytes"), std::string::npos)
          << error.msg();
    }
  }
}

TEST(CpuBackend, IsOneDevice) { EXPECT_EQ(cpu_backend().resolve(kCPU), Device(kCPU)); }

TEST(CpuBackend, LeavesTransfersToTheOtherDevice) {
  const Tensor x(std::make_shared<TensorImpl>(cpu_backend().allocate(4, Device(kCPU)), kFloat,
                                              Dims{1}, Dims{1}, 0, 1, true));
  EXPECT_THROW(cpu_backend().transfer(x, x, false), Error);
}

}  // namespace
}  // namespace gradus
