// AnomalyMode: an error of the backward pass names the forward call.
#include <cstdlib>

#include "gradus/autograd/engine/node.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::AnomalyMode, autograd::DetectAnomalyGuard;

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected in it: " << part;
}

TEST(Anomaly, IsOffAndTheGuardsNest) {
  EXPECT_FALSE(AnomalyMode::is_enabled());
  {
    const DetectAnomalyGuard outer;
    EXPECT_TRUE(AnomalyMode::is_enabled());
    EXPECT_TRUE(AnomalyMode::should_check_nan());
    {
      const DetectAnomalyGuard inner(/*check_nan=*/false);
      EXPECT_FALSE(AnomalyMode::should_check_nan());
    }
    EXPECT_TRUE(AnomalyMode::is_enabled());
    EXPECT_TRUE(AnomalyMode::should_check_nan());
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
  AnomalyMode::set_enabled(true, false);
  EXPECT_TRUE(AnomalyMode::is_enabled());
  AnomalyMode::set_enabled(false);
  const Tensor y = ones({1}, requires_grad()) * 1;
  EXPECT_EQ(y.grad_fn()->forward_call(), nullptr);
}

TEST(Anomaly, NamesTheFunctionThatReturnedNanAndItsForwardCall) {
  const DetectAnomalyGuard guard;
  const Tensor x = tensor({-1.0, 4.0, 9.0}, requires_grad());
  const int line = __LINE__ + 1;
  const Tensor y = x.sqrt().sum();
  const std::string message = text_of([&] { y.backward(); });
  expect_part(message, "Function 'SqrtBackward0' returned nan values in its 0th output.");
  expect_part(message, "Forward call of SqrtBackward0");
  expect_part(message, "result [3]:");
  expect_part(message, "test_autograd(+0x");
  // This file is compiled with debug information.
  if (std::system("addr2line --version > /dev/null 2>&1") == 0)
    expect_part(message, "anomaly_test.cpp:" + std::to_string(line) + " ");
  EXPECT_FALSE(x.grad().defined());
}

TEST(Anomaly, LooksAtNoNumbersUnlessAsked) {
  const DetectAnomalyGuard guard(/*check_nan=*/false);
  const Tensor x = tensor({-1.0}, requires_grad());
  x.sqrt().sum().backward();
  expect_values(x.grad(), {std::nan("")});
}

TEST(Anomaly, AddsTheForwardCallToOtherErrorsOfTheBackward) {
  const DetectAnomalyGuard guard;
  const Tensor x = ones({2}, requires_grad());
  Tensor h = x * 1;
  const Tensor y = (h * h).sum();
  h.add_(1);
  const std::string message = text_of([&] { y.backward(); });
  expect_part(message, "modified by an inplace operation");
  expect_part(message, "Forward call of MulBackward0");
  EXPECT_EQ(message.find("Hint"), std::string::npos);
}

TEST(Anomaly, TellsInWhoseBackwardAnOperationWasRecorded) {
  const DetectAnomalyGuard guard;
  const Tensor x = tensor({0.0}, requires_grad());
  // d/dx x^1.5 is 1.5 sqrt(x); its derivative at 0 is infinite, and 0 times that no number.
  const Tensor first = autograd::grad({x.pow(1.5).sum()}, {x}, {}, true, true)[0];
  const std::string message = text_of([&] { (first * 0).sum().backward(); });
  expect_part(message, "returned nan values");
  expect_part(message, "It was recorded in the backward of PowBackward0");
}

TEST(Anomaly, SaysWhereTheModeWasOffAtTheForwardCall) {
  const Tensor x = tensor({-1.0}, requires_grad());
  const Tensor y = x.sqrt().sum();
  const DetectAnomalyGuard guard;
  expect_part(text_of([&] { y.backward(); }), "not known, as the anomaly mode was off");
}

}  // namespace
}  // namespace gradus
