// functional::pad in each of its modes.
#include "gradus/nn/modules/padding.h"

#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

TEST(Padding, TakesTheModesOfItsOptions) {
  const Tensor x = arange(4.0).view({1, 1, 4});
  const auto padded = [&](PaddingMode mode) {
    return F::pad(x, F::PadFuncOptions({2, 1}).mode(mode));
  };
  expect_values(F::pad(x, F::PadFuncOptions({1, 2}).value(7)), {7, 0, 1, 2, 3, 7, 7}, 0);
  expect_values(padded(kConstant), {0, 0, 0, 1, 2, 3, 0}, 0);
  expect_values(padded(kReflect), {2, 1, 0, 1, 2, 3, 2}, 0);
  expect_values(padded(kReplicate), {0, 0, 0, 1, 2, 3, 3}, 0);
  expect_values(padded(kCircular), {2, 3, 0, 1, 2, 3, 0}, 0);
}

}  // namespace
}  // namespace gradus
