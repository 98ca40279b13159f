// What the tests of kernels that are compiled at run time share.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"
#include "tests/temporary_folder.h"

namespace gradus {

// The text with a comment that no other has.
inline std::string own_text(const std::string& text) {
  static int number = 0;
  return text + "// " + std::to_string(number++) + "\n";
}

// On a device, with a cache on disk that is empty at first.
class Rtc : public GpuTest {
 protected:
  Rtc() { setenv("GRADUS_KERNEL_CACHE", folder.path().c_str(), 1); }
  ~Rtc() override { unsetenv("GRADUS_KERNEL_CACHE"); }

  const TemporaryFolder folder;
};

}  // namespace gradus
