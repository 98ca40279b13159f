// Threads of a job that the system does not start, and jobs in a process that was forked.
#include "gradus/distributed/distributed.h"
#include "tests/failing_threads.h"
#include "tests/forked.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;

struct StartCase {
  const char* name;
  int threads;  // that it starts
  std::function<void()> f;
};

// With fewer threads than a call starts it is an error, whichever thread is the first that lacks.
TEST(ThreadStart, AThreadThatDoesNotStartIsAnError) {
  const auto nothing = [](int) {};
  const std::vector<StartCase> cases{
      {"spawn_threads", 2 * 3, [&] { dist::spawn_threads(3, nothing); }},
      {"TCPStore", 1, [] { dist::TCPStore("127.0.0.1", 0, true); }},
      {"init_process_group", 1,
       [] {
         const auto store = std::make_shared<dist::HashStore>(std::chrono::milliseconds(10000));
         dist::init_process_group("threads", "", std::chrono::milliseconds(10000), 1, 0, store);
         dist::destroy_process_group();
       }},
  };
  for (const StartCase& each : cases) {
    for (int allowed = 0; allowed < each.threads; ++allowed) {
      const test::ThreadsAllowed some(allowed);
      EXPECT_THROW(each.f(), Error) << each.name << ", " << allowed << " threads";
      EXPECT_FALSE(dist::is_initialized()) << each.name;
    }
    EXPECT_NO_THROW(each.f()) << each.name;
  }
  const test::ThreadsAllowed none(0);
  expect_error<ThreadError>([&] { dist::spawn_threads(2, nothing); },
                            "spawn_threads: rank 0: the system starts no more threads");
}

TEST(ThreadStart, AForkedChildIsToldThatTheJobIsItsParents) {
  dist::spawn_threads(1, [](int) {
    const Tensor x = ones({2});
    dist::all_reduce(x);
    const auto says = [](const auto& f) {
      try {
        f();
      } catch (const Error& error) {
        return std::string(error.what()).find("this process was forked after") != std::string::npos;
      }
      return false;
    };
    EXPECT_TRUE(test::holds_in_child(
        [&] { return says([&] { dist::all_reduce(x); }) && says([] { dist::barrier(); }); }));
    dist::all_reduce(x);
  });
  dist::TCPStore store("127.0.0.1", 0, true);
  store.set("a", "b");
  EXPECT_TRUE(test::holds_in_child([&] {
    try {
      store.get("a");
    } catch (const Error& error) {
      return std::string(error.what()).find("was forked") != std::string::npos;
    }
    return false;
  }));
  EXPECT_EQ(store.get("a"), "b");
}

}  // namespace
}  // namespace gradus
