// Modes of recording: NoGradGuard, AutoGradMode, InferenceMode.
#include <thread>

#include "tests/support.h"

namespace gradus {
namespace {

TEST(GradModeTest, NoGradGuardRecordsNothing) {
  const Tensor x = ones({2}, requires_grad());
  {
    const NoGradGuard guard;
    EXPECT_FALSE((x * 2).requires_grad());
    const AutoGradMode on(true);
    EXPECT_TRUE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST(GradModeTest, BelongsToTheThread) {
  const NoGradGuard guard;
  bool enabled_elsewhere = false;
  std::thread([&] { enabled_elsewhere = GradMode::is_enabled(); }).join();
  EXPECT_TRUE(enabled_elsewhere);
  EXPECT_FALSE(GradMode::is_enabled());
}

TEST(Inference, RecordsNothingAndMarksWhatIsMade) {
  const Tensor x = ones({2}, requires_grad());
  EXPECT_FALSE(InferenceMode::is_enabled());
  Tensor made;
  {
    const InferenceMode guard;
    EXPECT_TRUE(InferenceMode::is_enabled());
    EXPECT_FALSE(GradMode::is_enabled());
    made = x * 2;
    EXPECT_FALSE(made.requires_grad());
    made.add_(1);
    {
      const InferenceMode off(false);
      EXPECT_TRUE((x * 2).requires_grad());
      EXPECT_FALSE((x * 2).is_inference());
    }
    EXPECT_TRUE(made.is_inference());
    EXPECT_TRUE(made[0].is_inference());
    EXPECT_TRUE(made.detach().is_inference());
    EXPECT_FALSE(x[0].is_inference());  // a view of what is none
  }
  EXPECT_TRUE(GradMode::is_enabled());
  EXPECT_FALSE(InferenceMode::is_enabled());
  EXPECT_TRUE(made.view({2, 1}).is_inference());
  EXPECT_FALSE((made + 1).is_inference());
  expect_values(made, {3, 3});
}

TEST(Inference, ItsTensorsStayOutOfGraphs) {
  const Tensor x = ones({2}, requires_grad());
  Tensor made;
  {
    const InferenceMode guard;
    made = ones({2});
  }
  expect_error<Error>([&] { x* made; }, "Inference tensors cannot be saved for backward");
  EXPECT_TRUE((x + made).requires_grad());  // addition saves nothing
  expect_error<Error>([&] { made.add_(1); }, "Inplace update to inference tensor");
  expect_error<Error>([&] { made.requires_grad_(); },
                      "Setting requires_grad=True on inference tensor outside InferenceMode");
  expect_error<Error>([&] { made._version(); }, "does not count its changes");
  expect_values(made, {1, 1});
  (x * made.clone()).sum().backward();
  expect_values(x.grad(), {1, 1});
}

TEST(Inference, AViewMadeInItMustNotBeChangedInARecordedWay) {
  const Tensor x = ones({2}, requires_grad()) * 1;
  Tensor view;
  {
    const InferenceMode guard;
    view = x.narrow(0, 0, 1);
    Tensor other = x.narrow(0, 1, 1);
    other.mul_(2);  // in the mode it may be
  }
  expect_values(x, {1, 2});
  expect_error<Error>([&] { view.mul_(2); }, "A view was created in inference mode and is being");
}

}  // namespace
}  // namespace gradus
