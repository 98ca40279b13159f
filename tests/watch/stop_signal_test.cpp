// StopSignal: a training that is asked to end saves and goes on later; the handlers from before.
#include "gradus/watch/stop_signal.h"

#include "tests/forked.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using watch::StopSignal;

int handled = 0;

TEST(StopSignal, NotesASignalAndGivesTheHandlersBack) {
  const auto before = std::signal(SIGTERM, [](int) { ++handled; });
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) {
    const StopSignal stop({SIGTERM, SIGINT, SIGUSR1});
    EXPECT_FALSE(stop.requested());
    std::raise(number);
    EXPECT_TRUE(stop.requested());
    EXPECT_EQ(stop.signal(), number);
  }
  EXPECT_EQ(handled, 0);
  std::raise(SIGTERM);
  EXPECT_EQ(handled, 1);
  std::signal(SIGTERM, before);
}

TEST(StopSignal, TheSecondOneEndsTheProgram) {
  const pid_t child = fork();
  if (child == 0) {
    const StopSignal stop;
    std::raise(SIGTERM);
    std::raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST(StopSignal, RefusesWhatItCannotCatch) {
  expect_error<ValueError>([] { StopSignal stop({SIGKILL}); }, "StopSignal: signal 9");
  expect_error<ValueError>([] { StopSignal stop({SIGTERM, 1000}); }, "StopSignal: signal 1000");
  const StopSignal first;
  expect_error<Error>([] { StopSignal second; }, "there is one already");
}

// Trains to `last` epochs, or until it is asked to end, and saves then.
int64_t train_until_stopped(const std::string& folder, int64_t last, int64_t asked_at) {
  const StopSignal stop;
  manual_seed(1);
  nn::Linear net(2, 1);
  optim::SGD sgd(net->parameters(), 0.1);
  serialize::Checkpoints checkpoints(folder, *net, sgd);
  int64_t epoch = checkpoints.load();
  while (epoch < last) {
    sgd.zero_grad();
    net(ones({1, 2})).sum().backward();
    sgd.step();
    ++epoch;
    if (epoch == asked_at) std::raise(SIGTERM);
    if (!stop.requested()) continue;
    checkpoints.save(epoch);
    return epoch;
  }
  checkpoints.save(epoch);
  return epoch;
}

TEST(StopSignal, LetsATrainingSaveAndGoOn) {
  const TemporaryFolder folder;
  EXPECT_EQ(train_until_stopped(folder / "whole", 6, -1), 6);
  EXPECT_EQ(train_until_stopped(folder / "parts", 6, 4), 4);
  EXPECT_EQ(train_until_stopped(folder / "parts", 6, -1), 6);
  const auto weights = [&](const std::string& name) {
    return serialize::load_file(folder / (name + "/checkpoint-6.safetensors"))
        .tensors["model.weight"];
  };
  EXPECT_TRUE(weights("parts").equal(weights("whole")));
}

}  // namespace
}  // namespace gradus
