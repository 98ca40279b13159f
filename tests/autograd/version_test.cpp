// Saved tensors that were changed in place since.
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Versions, CatchASavedTensorThatWasChanged) {
  const Tensor x = tensor({2.0}, requires_grad());
  Tensor h = x * 1;
  const Tensor y = h * h;
  {
    const NoGradGuard guard;
    h.add_(1);
  }
  expect_error<Error>([&] { y.sum().backward(); }, "modified by an inplace operation");
}

TEST(Versions, CatchAChangeThroughAViewAndThroughDetach) {
  for (const bool through_view : {true, false}) {
    const Tensor x = ones({2, 2}, requires_grad());
    const Tensor h = x.exp();
    const Tensor loss = h.sum();
    const NoGradGuard guard;
    Tensor other = through_view ? h[0] : h.detach();
    other.mul_(2);
    expect_error<Error>([&] { loss.backward(); }, "ExpBackward0");
  }
}

TEST(Versions, AllowAChangeOfWhatNoDerivativeReads) {
  const Tensor x = ones({2}, requires_grad());
  Tensor y = x + 1;
  const Tensor z = y + 2;  // addition saves nothing
  {
    const NoGradGuard guard;
    y.mul_(5);
  }
  z.sum().backward();
  expect_values(x.grad(), {1, 1});
}

TEST(Versions, TheErrorNamesTheTensorItsMakerAndBothVersions) {
  const Tensor x = ones({3}, requires_grad());
  Tensor h = x * 1;
  const Tensor y = h * h;
  h.add_(1);
  expect_error<Error>([&] { y.sum().backward(); },
                      "one of the variables needed for gradient computation has been modified by "
                      "an inplace operation: [CPUFloatType [3]], which is output 0 of "
                      "AddBackward0, is at version 1; expected version 0 instead. MulBackward0 "
                      "saved it");
  // A result that its own node saved.
  Tensor e = x.to(kDouble).exp();
  const Tensor z = e.sum();
  e.mul_(2).mul_(2);
  expect_error<Error>([&] { z.backward(); },
                      "[CPUDoubleType [3]], which is output 0 of ExpBackward0, is at version 2; "
                      "expected version 0 instead");
  // A leaf has no maker.
  Tensor leaf = ones({}, requires_grad());
  const Tensor square = leaf * leaf;
  {
    const NoGradGuard guard;
    leaf.add_(1);
  }
  expect_error<Error>([&] { square.backward(); }, "[CPUFloatType []] is at version 1;");
  EXPECT_FALSE(x.grad().defined());
}

TEST(Versions, CountChangesOfTheMemoryThroughAnyHandle) {
  Tensor x = ones({2, 2});
  Tensor view = x[0], other = x.detach();
  EXPECT_EQ(x._version(), 0u);
  x.add_(1);
  view.mul_(2);
  other.zero_();
  for (const Tensor& handle : {x, view, other}) EXPECT_EQ(handle._version(), 3u);
  EXPECT_EQ(x.clone()._version(), 0u);
}

}  // namespace
}  // namespace gradus
