// Checkpoints: which files of a folder stay, that a training goes on with all of its objects bit
// for bit, and that what does not fit changes nothing.
#include "gradus/serialize/checkpoints.h"

#include <filesystem>
#include <fstream>

#include "gradus/tensor/base/warning.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using serialize::Checkpoints;

// A training with a schedule, a loader, a second optimizer and a history.
struct WholeTraining {
  explicit WholeTraining(const std::string& folder, int64_t keep = 3)
      : net(nn::Linear(3, 4), nn::Tanh(), nn::Linear(4, 1)),
        adam(net->parameters(), 0.1),
        sgd(net->parameters(), optim::SGDOptions(0.01).momentum(0.9)),
        schedule(adam, 3, 0.5),
        loader(data::TensorPairDataset(arange(12, kFloat).view({4, 3}), ones({4, 1})),
               data::DataLoaderOptions(1).shuffle(true)),
        checkpoints(folder, *net, adam, keep) {
    checkpoints.add("schedule", schedule).add("loader", loader).add("other", sgd);
    checkpoints.add("history", history);
  }
  // Saves after each step, the last ones in the middle of an epoch.
  void train(int64_t from, int64_t to) {
    int64_t step = from;
    while (step < to)
      for (auto& [x, y] : loader) {
        net->zero_grad();
        const Tensor loss = mse_loss(net->forward(x) * rand({}), y);
        loss.backward();
        adam.step();
        sgd.step();
        schedule.step();
        history.log({{"loss", loss.detach()}});
        checkpoints.save(++step);
        if (step == to) break;
      }
  }

  nn::Sequential net;
  optim::Adam adam;
  optim::SGD sgd;
  optim::StepLR schedule;
  data::DataLoader<data::Example<>> loader;
  watch::History history;
  Checkpoints checkpoints;
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out.insert(entry.path().filename().string());
  return out;
}

TEST(Checkpoints, GoOnBitForBit) {
  const TemporaryFolder folder;
  manual_seed(1);
  WholeTraining whole(folder / "whole");
  whole.train(0, 11);
  const std::string at_the_end = bytes_of(whole.checkpoints.latest());
  for (const int64_t stopped : {1, 4, 6}) {
    const std::string parts = folder / std::to_string(stopped);
    manual_seed(1);
    WholeTraining(parts).train(0, stopped);
    manual_seed(99);
    WholeTraining resumed(parts);
    ASSERT_EQ(resumed.checkpoints.load(), stopped);
    resumed.train(stopped, 11);
    EXPECT_EQ(bytes_of(resumed.checkpoints.latest()), at_the_end) << "stopped after " << stopped;
    EXPECT_EQ(resumed.history.column("loss"), whole.history.column("loss"));
  }
}

TEST(Checkpoints, KeepTheNewestFiles) {
  const TemporaryFolder folder;
  const std::string to = folder / "new/folder";
  std::filesystem::create_directories(to);
  for (const char* const other : {"checkpoint-x.safetensors", "notes.txt", "checkpoint-7.bak"})
    std::ofstream(to + "/" + other) << "other";
  {
    WholeTraining training(to, 2);
    EXPECT_EQ(training.checkpoints.latest(), "");
    EXPECT_EQ(training.checkpoints.load(), 0);
    training.train(8, 11);
  }
  const std::set<std::string> others = {"checkpoint-x.safetensors", "notes.txt",
                                        "checkpoint-7.bak"};
  auto expected = others;
  expected.insert({"checkpoint-10.safetensors", "checkpoint-11.safetensors"});
  EXPECT_EQ(names_in(to), expected);  // 10 is newer than 9

  // A training that begins anew takes the place of the older one with its first file.
  WholeTraining(to, 2).train(0, 1);
  expected = others;
  expected.insert("checkpoint-1.safetensors");
  EXPECT_EQ(names_in(to), expected);
  // One that goes on keeps the older file.
  WholeTraining resumed(to, 2);
  resumed.train(resumed.checkpoints.load(), 2);
  expected.insert("checkpoint-2.safetensors");
  EXPECT_EQ(names_in(to), expected);
}

TEST(Checkpoints, ThatDoNotFitChangeNothing) {
  const TemporaryFolder folder;
  WholeTraining saved(folder / "run");
  saved.train(0, 5);

  // An object is missing.
  nn::Sequential net(nn::Linear(3, 4), nn::Tanh(), nn::Linear(4, 1));
  optim::Adam adam(net->parameters(), 0.1);
  Checkpoints without(folder / "run", *net, adam);
  const Tensor before = net->parameters()[0].detach().clone();
  expect_error<ValueError>([&] { without.load(); }, "history.loss");
  EXPECT_TRUE(net->parameters()[0].equal(before));

  // A later object refuses its state, and the earlier ones keep theirs.
  struct Stubborn {
    OrderedDict<std::string, Tensor> state_dict() const { return {}; }
    void load_state_dict(const OrderedDict<std::string, Tensor>&) { fail<ValueError>("no"); }
  } stubborn;
  WholeTraining other(folder / "run");
  other.history.log({{"loss", 7}});
  other.checkpoints.add("stubborn", stubborn);
  const Tensor weight = other.net->parameters()[0].detach().clone();
  expect_error<ValueError>([&] { other.checkpoints.load(); }, "no");
  EXPECT_EQ(other.history.column("loss"), (std::vector<double>{7}));
  EXPECT_TRUE(other.net->parameters()[0].equal(weight));
}

struct WarningsSeen : WarningHandler {
  WarningsSeen() { Warning::set_warning_handler(this); }
  ~WarningsSeen() override { Warning::set_warning_handler(nullptr); }
  void process(const SourceLocation&, const std::string& message, bool) override {
    texts.push_back(message);
  }
  std::vector<std::string> texts;
};

TEST(Checkpoints, GoOnFromTheNewestWholeFile) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  const auto file = [&](int step) {
    return run + "/checkpoint-" + std::to_string(step) + ".safetensors";
  };
  manual_seed(1);
  WholeTraining whole(run);
  whole.train(0, 5);
  const std::string newest = bytes_of(file(5)), third = bytes_of(file(3));
  const auto damage = [&](int step, size_t length) {
    std::filesystem::resize_file(file(step), length);
  };
  WarningsSeen seen;
  for (const size_t length :
       {size_t{0}, size_t{4}, size_t{100}, newest.size() / 2, newest.size() - 1}) {
    std::ofstream(file(5), std::ios::binary) << newest;
    damage(5, length);
    seen.texts.clear();
    WholeTraining resumed(run);
    EXPECT_EQ(resumed.checkpoints.load(), 4) << length;
    ASSERT_EQ(seen.texts.size(), 1U);
    EXPECT_NE(seen.texts[0].find("Checkpoints::load: " + file(5)), std::string::npos)
        << seen.texts[0];
    EXPECT_NE(seen.texts[0].find("goes on from the older " + file(4)), std::string::npos);
  }
  // Two of them: the oldest is left. A file that is damaged does not count among those kept.
  damage(4, 50);
  manual_seed(99);
  WholeTraining resumed(run);
  EXPECT_EQ(resumed.checkpoints.load(), 3);
  EXPECT_NE(seen.texts.back().find(file(4)), std::string::npos);
  resumed.train(3, 4);
  EXPECT_EQ(names_in(run),
            (std::set<std::string>{"checkpoint-3.safetensors", "checkpoint-4.safetensors"}));
  resumed.train(4, 5);
  EXPECT_EQ(bytes_of(file(5)), newest);  // as if nothing had happened
  // None is whole.
  for (const int step : {3, 4, 5}) damage(step, 20);
  WholeTraining last(run);
  const Tensor weight = last.net->parameters()[0].detach().clone();
  expect_error<ValueError>([&] { last.checkpoints.load(); },
                           "no checkpoint of the folder is whole");
  EXPECT_TRUE(last.net->parameters()[0].equal(weight));
  // What is whole and does not fit is an error: an older file would not fit either.
  std::ofstream(file(3), std::ios::binary) << third;
  for (const int step : {4, 5}) std::filesystem::remove(file(step));
  nn::Linear other(3, 4);
  optim::Adam adam(other->parameters(), 0.1);
  Checkpoints misfit(run, *other, adam);
  expect_error<ValueError>([&] { misfit.load(); }, "does not fit; nothing was loaded");
}

TEST(Checkpoints, RefuseWrongArguments) {
  const TemporaryFolder folder;
  nn::Linear net(1, 1);
  optim::SGD sgd(net->parameters(), 0.1);
  watch::History history;
  expect_error<ValueError>([&] { Checkpoints(folder / "run", *net, sgd, 0); }, "keep is 0");
  Checkpoints checkpoints(folder / "run", *net, sgd);
  checkpoints.add("history", history);
  expect_error<ValueError>([&] { checkpoints.add("history", history); }, "history is taken");
  expect_error<ValueError>([&] { checkpoints.add("a.b", history); }, "a.b");
  expect_error<ValueError>([&] { checkpoints.add("", history); }, "not empty");
  std::ofstream(folder / "file") << "text";
  expect_error<Error>([&] { Checkpoints(folder / "file", *net, sgd); }, "cannot be made");
  expect_error<Error>([&] { Checkpoints(folder / "file/run", *net, sgd); }, "cannot be made");
}

}  // namespace
}  // namespace gradus
