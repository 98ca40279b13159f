// EarlyStopping: when it stops, and that it goes on after a resume.
#include "tests/support.h"

namespace gradus {
namespace {

using watch::EarlyStopping, watch::EarlyStoppingOptions, watch::Mode;

// The step after which it stops; 0: never.
size_t stopped_after(EarlyStopping stopping, const std::vector<double>& figures) {
  for (size_t i = 0; i < figures.size(); ++i)
    if (stopping.step(figures[i])) return i + 1;
  return 0;
}

TEST(EarlyStopping, WaitsForABetterFigure) {
  const auto options = EarlyStoppingOptions().patience(2);
  EXPECT_EQ(stopped_after(EarlyStopping(options), {3, 2, 2, 2}), 4u);
  EXPECT_EQ(stopped_after(EarlyStopping(options), {3, 2, 2.5, 1.9, 2, 1.8}), 0u);
  EXPECT_EQ(stopped_after(EarlyStopping(options), {1, 2, 3}), 3u);
  EXPECT_EQ(stopped_after(EarlyStopping(EarlyStoppingOptions().patience(2).mode(Mode::Max)),
                          {1, 2, 3, 3, 2}),
            5u);
  // 0.5 is needed, and 0.5 exactly is not enough.
  EXPECT_EQ(stopped_after(EarlyStopping(EarlyStoppingOptions().patience(2).min_delta(0.5)),
                          {3, 2.5, 2.6, 2}),
            3u);
  EXPECT_EQ(stopped_after(EarlyStopping(), {1, 1, 1, 1}), 4u);  // patience 3
}

TEST(EarlyStopping, TellsTheBest) {
  EarlyStopping stopping(EarlyStoppingOptions().patience(5).mode(Mode::Max));
  EXPECT_FALSE(stopping.improved());
  stopping.step(0.5);
  EXPECT_TRUE(stopping.improved());
  stopping.step(0.4);
  EXPECT_FALSE(stopping.improved());
  EXPECT_EQ(stopping.best_score(), 0.5);
  EXPECT_EQ(stopping.wait_count(), 1);
  EXPECT_FALSE(stopping.should_stop());
}

TEST(EarlyStopping, StopsAtWhatIsNotFinite) {
  EXPECT_EQ(stopped_after(EarlyStopping(), {1, NAN}), 2u);
  EXPECT_EQ(stopped_after(EarlyStopping(), {1, INFINITY}), 2u);
  EXPECT_EQ(stopped_after(EarlyStopping(EarlyStoppingOptions().check_finite(false)), {1, NAN, 0.5}),
            0u);
}

TEST(EarlyStopping, GoesOnAfterAResume) {
  const auto options = EarlyStoppingOptions().patience(3);
  EarlyStopping whole(options), first(options), second(options);
  for (const double figure : {3.0, 2.0, 2.1}) whole.step(figure), first.step(figure);
  second.load_state_dict(first.state_dict());
  for (const double figure : {2.2, 2.3})
    EXPECT_EQ(whole.step(figure), second.step(figure)) << figure;
  EXPECT_TRUE(second.should_stop());
  EXPECT_EQ(second.best_score(), 2);
  EarlyStopping stopped(options);
  stopped.load_state_dict(second.state_dict());
  EXPECT_TRUE(stopped.should_stop());
  auto state = first.state_dict();
  state.erase("wait_count");
  expect_error<ValueError>([&] { second.load_state_dict(state); }, "wait_count");
}

TEST(EarlyStopping, SaysWhatIsWrong) {
  expect_error<ValueError>([] { EarlyStopping none(EarlyStoppingOptions().patience(0)); },
                           "EarlyStopping: patience is 0, expected 1 or more");
  expect_error<ValueError>([] { EarlyStopping down(EarlyStoppingOptions().min_delta(-1)); },
                           "min_delta is -1");
}

}  // namespace
}  // namespace gradus
