// A training with loader workers that is killed at random instants, resumed each time, and ends as
// one that was not.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

constexpr const char* kFolder = "GRADUS_TEST_KILLED";  // where the training keeps its checkpoint
constexpr int64_t kSteps = 150;

// Also a program of its own, which KilledTraining starts.
TEST(KilledTraining, DISABLED_Run) {
  const char* folder = std::getenv(kFolder);
  ASSERT_NE(folder, nullptr);
  const std::string path = std::string(folder) + "/train.ckpt";
  manual_seed(1);
  nn::Sequential model(nn::Linear(3, 8), nn::Dropout(0.25), nn::ReLU(), nn::Linear(8, 1));
  optim::Adam adam(model->parameters(), optim::AdamOptions(1e-2));
  data::DataLoader loader(data::TensorPairDataset(rand({26, 3}), rand({26, 1})),
                          data::DataLoaderOptions(4).shuffle(true).workers(2));
  int64_t step = 0;
  if (std::ifstream(path).good())
    step = serialize::load_checkpoint(path, *model, adam, loader).step;
  std::ofstream(std::string(folder) + "/resumed") << step;
  while (step < kSteps)
    for (auto& [x, y] : loader) {
      adam.zero_grad();
      mse_loss(model->forward(x), y).backward();
      adam.step();
      serialize::save_checkpoint(path, *model, adam, loader, {.step = ++step});
      if (step == kSteps) return;
    }
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

pid_t start(const std::string& folder) {
  setenv(kFolder, folder.c_str(), 1);
  std::string arguments[] = {"killed", "--gtest_filter=KilledTraining.DISABLED_Run",
                             "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), nullptr};
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv, environ), 0);
  return child;
}

bool ended_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(KilledTraining, EndsAsOneThatWasNot) {
  const TemporaryFolder whole, killed;
  ASSERT_TRUE(ended_well(start(whole.path())));
  std::random_device device;
  const unsigned seed = device();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 20; ++i) {
    std::filesystem::remove(killed / "resumed");
    const pid_t child = start(killed.path());
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (content_of(killed / "resumed").empty() && std::chrono::steady_clock::now() < late)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    // It had resumed and was killed, or was over.
    ASSERT_FALSE(content_of(killed / "resumed").empty());
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  }
  ASSERT_TRUE(ended_well(start(killed.path())));
  EXPECT_EQ(content_of(killed / "train.ckpt"), content_of(whole / "train.ckpt"));
  EXPECT_FALSE(content_of(whole / "train.ckpt").empty());
}

}  // namespace
}  // namespace gradus
