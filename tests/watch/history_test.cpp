// History: rows of figures as curves, and that a checkpoint keeps them.
#include <cmath>

#include "tests/support.h"

namespace gradus {
namespace {

using watch::History;

TEST(History, GivesCurvesOfItsRows) {
  History history;
  history.log({{"step", 10}, {"loss", 0.5}});
  history.log({{"step", 20}, {"loss", tensor(0.25)}, {"accuracy", 75}});
  history.log({{"step", 30}, {"accuracy", 80.5}});
  EXPECT_EQ(history.size(), 3);
  EXPECT_EQ(history.column("step"), (std::vector<double>{10, 20, 30}));
  EXPECT_TRUE(std::isnan(history.column("accuracy")[0]));
  EXPECT_TRUE(std::isnan(history.column("loss")[2]));

  const watch::Curve accuracy = history.curve("accuracy", "step"), loss = history.curve("loss");
  EXPECT_EQ(accuracy.name, "accuracy");
  EXPECT_EQ(accuracy.x, (std::vector<double>{20, 30}));
  EXPECT_EQ(accuracy.y, (std::vector<double>{75, 80.5}));
  EXPECT_EQ(loss.x, (std::vector<double>{1, 2}));
  EXPECT_EQ(loss.y, (std::vector<double>{0.5, 0.25}));
}

TEST(History, RefusesWhatIsNoFigure) {
  History history;
  history.log({{"loss", 1}});
  expect_error<ValueError>(
      [&] {
        history.log({{"loss", 2}, {"note", "late"}});
      },
      "History::log: note is \"late\", expected a number");
  expect_error<ValueError>([&] { history.log({{"loss", 2}, {"loss", 3}}); }, "given twice");
  EXPECT_EQ(history.column("loss"), (std::vector<double>{1}));
  expect_error<ValueError>([&] { history.column("los"); }, "\"los\"; there are: loss");
  expect_error<ValueError>([&] { history.curve("loss", "step"); }, "\"step\"");
}

TEST(History, GoesOnFromItsState) {
  History history, other;
  history.log({{"loss", 0.1}, {"accuracy", 3}});
  history.log({{"loss", 0.2}});
  other.load_state_dict(history.state_dict());
  for (History* each : {&history, &other}) each->log({{"loss", 0.3}});
  EXPECT_EQ(other.size(), 3);
  EXPECT_EQ(other.column("loss"), history.column("loss"));
  EXPECT_EQ(other.curve("accuracy").y, (std::vector<double>{3}));

  OrderedDict<std::string, Tensor> state;
  state.insert("loss", zeros({2}, kDouble));
  state.insert("accuracy", zeros({3}, kDouble));
  expect_error<ValueError>([&] { other.load_state_dict(state); }, "accuracy has 3 rows");
  OrderedDict<std::string, Tensor> of_floats;
  of_floats.insert("loss", zeros({2}));
  expect_error<ValueError>([&] { other.load_state_dict(of_floats); }, "loss is float32");
  EXPECT_EQ(other.column("loss"), history.column("loss"));
}

}  // namespace
}  // namespace gradus
