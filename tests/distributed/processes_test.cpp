// Ranks that are processes, and are killed or stopped.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "gradus/distributed/tcp_store.h"
#include "tests/support.h"

extern char** environ;

namespace gradus {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Processes that do not outlive the test.
class Job {
 public:
  Job(int size, int timeout_ms) : output_(std::filesystem::temp_directory_path() / unique_name()) {
    const int port = distributed::TCPStore("127.0.0.1", 0, true).port();
    for (int rank = 0; rank < size; ++rank) {
      std::vector<std::string> words = {WATCHED_RANK,         "127.0.0.1",
                                        std::to_string(port), std::to_string(rank),
                                        std::to_string(size), std::to_string(timeout_ms)};
      std::vector<char*> arguments;
      for (auto& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      posix_spawn_file_actions_t actions;
      posix_spawn_file_actions_init(&actions);
      posix_spawn_file_actions_addopen(&actions, 1, file_of(rank).c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
      pid_t pid = 0;
      EXPECT_EQ(posix_spawn(&pid, WATCHED_RANK, &actions, nullptr, arguments.data(), environ), 0);
      posix_spawn_file_actions_destroy(&actions);
      pids_.push_back(pid);
    }
  }
  ~Job() {
    for (size_t rank = 0; rank < pids_.size(); ++rank) {
      if (pids_[rank] <= 0) continue;
      kill(pids_[rank], SIGKILL);
      waitpid(pids_[rank], nullptr, 0);
    }
    for (size_t rank = 0; rank < pids_.size(); ++rank)
      std::filesystem::remove(file_of(static_cast<int>(rank)));
  }

  void signal(int rank, int number) {
    const pid_t pid = pids_[static_cast<size_t>(rank)];
    if (pid > 0) kill(pid, number);  // 0 would be all of this process group
  }
  // Its exit status; -1 where it has not ended in time or was killed.
  int await_end(int rank, Clock::time_point deadline) {
    pid_t& pid = pids_[static_cast<size_t>(rank)];
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (Clock::now() > deadline) return -1;
      std::this_thread::sleep_for(milliseconds(2));
    }
    pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // Until the ranks have met once.
  void await_begin() {
    const auto deadline = Clock::now() + std::chrono::seconds(15);
    for (int rank = 0; rank < static_cast<int>(pids_.size()); ++rank)
      while (said(rank).find("begun\n") == std::string::npos && Clock::now() < deadline)
        std::this_thread::sleep_for(milliseconds(1));
  }
  std::string said(int rank) const {
    std::ifstream in(file_of(rank));
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  static std::string unique_name() {
    static int count = 0;
    return "gradus-job-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  }
  std::string file_of(int rank) const { return output_.string() + "-" + std::to_string(rank); }

  std::filesystem::path output_;
  std::vector<pid_t> pids_;
};

TEST(Processes, ARankThatIsKilledAtAnyInstantEndsAll) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 10; ++round) {
    const int victim = round % 3;
    Job job(3, 8000);
    job.await_begin();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    job.signal(victim, SIGKILL);
    const auto deadline = Clock::now() + std::chrono::seconds(6);
    std::string message;
    for (const int rank : {0, 1, 2}) {
      if (rank == victim) continue;
      EXPECT_EQ(job.await_end(rank, deadline), 3) << rank << job.said(rank);
      const std::string text = job.said(rank).substr(6);
      EXPECT_NE(text.find(victim == 0 ? "rank 0, which serves the job, ended"
                                      : "rank " + std::to_string(victim) +
                                            " ended without destroy_process_group"),
                std::string::npos)
          << text;
      EXPECT_NE(text.find("of group 'world'"), std::string::npos) << text;
      EXPECT_NE(text.find("barrier"), std::string::npos) << text;
      if (victim != 0 && !message.empty()) {
        EXPECT_EQ(text, message);
      }
      message = text;
    }
  }
}

TEST(Processes, ARankThatIsStoppedEndsAllInTime) {
  for (const int victim : {1, 0}) {
    Job job(3, 1000);
    job.await_begin();
    job.signal(victim, SIGSTOP);
    const auto deadline = Clock::now() + std::chrono::seconds(12);
    for (const int rank : {0, 1, 2}) {
      if (rank == victim) continue;
      EXPECT_GT(job.await_end(rank, deadline), 2) << rank << job.said(rank);
      const std::string text = job.said(rank).substr(6);
      EXPECT_NE(
          text.find(victim == 0 ? "rank 0, which serves the job, has not been heard of for 1 s"
                                : "timed out: rank"),
          std::string::npos)
          << text;
    }
  }
}

}  // namespace
}  // namespace gradus
