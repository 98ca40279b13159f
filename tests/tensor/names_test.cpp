// Names that gradus.h leaves to programs which say `using namespace gradus`.
#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace own {

using namespace gradus;

double cpu(double ticks) { return ticks / 2; }

TEST(Names, AFunctionMayBeCalledAsADevice) {
  EXPECT_EQ(cpu(2), 1);
  EXPECT_EQ(zeros({2}, kCPU).device(), Device("cpu"));
}

}  // namespace own
