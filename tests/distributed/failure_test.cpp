// Jobs that cannot go on: every rank gets the same message, in time.
#include <future>
#include <mutex>
#include <thread>

#include "gradus/distributed/distributed.h"
#include "gradus/distributed/job/monitor.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;
using dist::DistributedError;
using std::chrono::milliseconds;

// Runs f on the ranks; the message that all DistributedErrors had. Others are thrown on.
std::string failure_of(int size, const std::function<void(int)>& f, milliseconds timeout) {
  std::mutex mutex;
  std::string message;
  int caught = 0;
  dist::spawn_threads(
      size,
      [&](int rank) {
        try {
          f(rank);
        } catch (const DistributedError& error) {
          const std::lock_guard lock(mutex);
          if (!caught++) message = error.what();
          EXPECT_EQ(message, error.what());
        }
      },
      timeout);
  EXPECT_GT(caught, 0);
  return message;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected in it: " << part;
}

class FailureOn : public testing::TestWithParam<DeviceType> {
 protected:
  void SetUp() override {
    if (GetParam() == kCUDA && !cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  }
  Tensor here(const Tensor& x) const { return x.to(Device(GetParam(), 0)); }
};
INSTANTIATE_TEST_SUITE_P(All, FailureOn, testing::Values(kCPU, kCUDA));

TEST_P(FailureOn, AnotherShapeDtypeOperationOrReduction) {
  const auto pair = [&](const std::function<void(int)>& f) {
    return failure_of(3, f, milliseconds(20000));
  };
  const std::string shape = pair([&](int rank) {
    dist::barrier();
    dist::all_reduce(rank == 1 ? here(ones({2, 3})) : here(ones({3, 2})));
  });
  expect_contains(shape, "all_reduce(SUM) float32 [2, 3]");
  expect_contains(shape, "all_reduce(SUM) float32 [3, 2]");
  expect_contains(shape, "as operation 2 of group 'world'");
  expect_contains(
      pair([&](int rank) { dist::all_reduce(here(ones({2}, rank ? kFloat : kDouble))); }),
      "float64 [2]");
  expect_contains(
      pair([&](int rank) { rank == 2 ? dist::barrier() : dist::broadcast(here(ones({2})), 0); }),
      "broadcast(src 0) float32 [2]");
  expect_contains(pair([&](int rank) { dist::broadcast(here(ones({2})), rank == 2); }),
                  "broadcast(src 1)");
  expect_contains(pair([&](int rank) {
                    dist::all_reduce(here(ones({2})),
                                     rank ? dist::ReduceOp::MAX : dist::ReduceOp::SUM);
                  }),
                  "all_reduce(MAX)");
  expect_contains(pair([&](int rank) {
                    dist::new_group({0, rank == 2 ? 2 : 1});
                  }),
                  "new_group [0, 2]");
}

TEST_P(FailureOn, NothingMovesBeforeAllHaveCalledTheSame) {
  failure_of(
      3,
      [&](int rank) {
        const Tensor x = here(full({4}, 1.0 + rank));
        const Tensor before = x.clone();
        EXPECT_THROW(dist::all_reduce(rank == 2 ? x.view({2, 2}) : x), DistributedError);
        EXPECT_TRUE(equal(x, before));
        EXPECT_THROW(dist::all_reduce(x), DistributedError);  // nor does anything later
        dist::barrier();
      },
      milliseconds(20000));
}

TEST_P(FailureOn, ARankThatThrowsEndsAll) {
  for (const int bad : {0, 2}) {
    try {
      dist::spawn_threads(3, [&](int rank) {
        dist::barrier();
        check<IndexError>(rank != bad, "it broke");
        try {
          dist::all_reduce(here(ones({2})));
          ADD_FAILURE() << "nothing was thrown";
        } catch (const DistributedError& error) {
          expect_contains(error.what(), "rank " + std::to_string(bad) + " threw: it broke");
          throw;
        }
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const IndexError& error) {
      EXPECT_EQ(std::string(error.what()), "it broke (rank " + std::to_string(bad) + ")");
    }
  }
  EXPECT_THROW(dist::spawn_threads(2,
                                   [&](int rank) {
                                     if (rank == 1) throw std::runtime_error("foreign");
                                     dist::barrier();
                                   }),
               std::runtime_error);
}

TEST_P(FailureOn, ARankThatLeavesOrNeverComes) {
  expect_contains(failure_of(
                      3,
                      [&](int rank) {
                        if (rank != 1) dist::all_reduce(here(ones({5})));
                      },
                      milliseconds(20000)),
                  "rank 1 has left the job, while rank");
  std::promise<void> promise;
  const auto released = promise.get_future().share();
  const std::string message = failure_of(
      3,
      [&](int rank) {
        dist::barrier();
        if (rank == 1) {
          released.wait();
          return;
        }
        try {
          dist::all_reduce(here(ones({5})));
        } catch (...) {
          if (rank == 0) promise.set_value();
          throw;
        }
      },
      milliseconds(300));
  expect_contains(message,
                  "timed out: ranks 0, 2 wait in operation 2 of group 'world', "
                  "all_reduce(SUM) float32 [5] for 0.3 s");
  expect_contains(message, "rank 1 has not called it (its last was 1, barrier)");
}

TEST_P(FailureOn, AMessageThatNobodySendsOrOfAnotherShape) {
  expect_contains(failure_of(
                      2,
                      [&](int rank) {
                        Tensor x = here(ones({2, 3}));
                        if (rank == 1)
                          dist::recv(x, 0, nullptr, 7);
                        else
                          dist::barrier();
                      },
                      milliseconds(300)),
                  "0.3 s");
  expect_contains(failure_of(
                      2,
                      [&](int rank) {
                        Tensor x = here(ones({3 - rank}));
                        if (rank == 1)
                          dist::recv(x, 0);
                        else
                          dist::send(x, 1), dist::barrier();
                      },
                      milliseconds(20000)),
                  "rank 1 expected float32 [2] in recv with tag 0 of group 'world', and rank 0 "
                  "sent float32 [3]");
}

TEST_P(FailureOn, AsyncWorkEndsToo) {
  failure_of(
      2,
      [&](int rank) {
        Tensor x = here(ones({2})), y = here(ones({3 + rank})), z = here(ones({2}));
        const auto first = dist::all_reduce(x, dist::ReduceOp::SUM, nullptr, true);
        first->wait();
        while (!first->is_completed()) std::this_thread::yield();
        const auto second = dist::all_reduce(y, dist::ReduceOp::SUM, nullptr, true);
        EXPECT_THROW(second->wait(), DistributedError);
        EXPECT_NE(second->exception(), nullptr);
        EXPECT_TRUE(second->is_completed());
        EXPECT_EQ(first->exception(), nullptr);
        dist::all_reduce(z);
      },
      milliseconds(20000));
}

TEST(Failure, ArgumentsAreRefusedBeforeAnythingIsSent) {
  dist::spawn_threads(2, [](int rank) {
    const Tensor x = ones({2, 3});
    using E = ValueError;
    expect_error<E>([&] { dist::all_reduce(x.t()); },
                    "is not contiguous; pass tensor.contiguous()");
    expect_error<E>([&] { dist::all_reduce(Tensor()); }, "tensor is undefined");
    expect_error<E>([&] { dist::broadcast(x, 2); },
                    "src = 2 is not a rank of group 'world'; its ranks are [0, 1]");
    expect_error<E>([&] { dist::all_gather({x}, x); }, "tensor_list has 1 tensors");
    expect_error<E>(
        [&] {
          dist::all_gather({x, ones({3})}, x);
        },
        "has float32 [3] on cpu, expected float32 [2, 3] on cpu");
    expect_error<E>([&] { dist::all_gather_into_tensor(ones({7}), x); },
                    "has 7 elements, expected 2 times the 6");
    expect_error<E>([&] { dist::reduce_scatter_tensor(x, ones({7})); }, "expected 2 times the 6");
    expect_error<TypeError>([&] { dist::all_gather_into_tensor(ones({12}, kDouble), x); },
                            "output_tensor has dtype float64");
    expect_error<TypeError>([&] { dist::all_reduce(ones({1}, kLong), dist::ReduceOp::AVG); },
                            "AVG of int64");
    expect_error<E>([&] { dist::gather(x, {x, x}, 1 - rank); }, "belongs to rank");
    expect_error<E>([&] { dist::scatter(x, {x, x}, 1 - rank); }, "belongs to rank");
    expect_error<E>([&] { dist::all_to_all_single(ones({3}), ones({3})); }, "3 rows, which 2");
    expect_error<E>(
        [&] {
          dist::all_to_all_single(ones({4}), ones({4}), {1, 2}, {2, 2});
        },
        "sum to 3, and it has 4 rows");
    expect_error<E>([&] { dist::send(x, rank); }, "is this rank itself");
    expect_error<E>([&] { dist::recv(x, 5); }, "src = 5 is not a rank");
    expect_error<E>([&] { dist::isend(x, 1 - rank, nullptr, -1); }, "tag = -1");
    expect_error<E>([&] { dist::new_group({0, 2}); }, "the job has ranks 0 to 1");
    expect_error<E>([&] { dist::new_group({0, 0}); }, "has 0 twice");
    dist::barrier();
  });
}

TEST(Spawn, NamesTheRankOfAnyException) {
  const auto message = [](const auto& thrown) -> std::string {
    try {
      dist::spawn_threads(2, [&](int rank) {
        if (rank == 1) throw thrown;
      });
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(message(IndexError("too far")), "too far (rank 1)");
  EXPECT_EQ(message(std::logic_error("odd")), "odd (rank 1)");
  EXPECT_EQ(message(7), "an exception of an unknown type (rank 1)");
}

TEST(Init, IsNeededOnceAndWithRanksThatFit) {
  expect_error<Error>([] { dist::all_reduce(ones({1})); },
                      "all_reduce: there is no process group; call init_process_group first");
  expect_error<Error>([] { dist::get_rank(); }, "get_rank");
  expect_error<ValueError>([] { dist::init_process_group("gloo"); },
                           "backend = 'gloo'; expected threads, mpi or nccl");
  expect_error<ValueError>([] { dist::init_process_group("threads"); }, "needs a HashStore");
  expect_error<ValueError>([] { dist::spawn_threads(0, [](int) {}); }, "world_size = 0");
  dist::spawn_threads(1, [](int) {
    expect_error<Error>([] { dist::init_process_group("threads"); }, "has been called already");
    dist::destroy_process_group();
    EXPECT_FALSE(dist::is_initialized());
  });
}

TEST(Init, RanksThatDisagreeAreAllRefused) {
  const auto start = [](const std::vector<std::pair<int, int>>& ranks_and_sizes) {
    const auto store = std::make_shared<dist::HashStore>();
    std::vector<std::string> messages(ranks_and_sizes.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < messages.size(); ++i)
      threads.emplace_back([&, i] {
        const auto [rank, size] = ranks_and_sizes[i];
        try {
          dist::init_process_group("threads", "", milliseconds(300), size, rank, store);
          dist::destroy_process_group();
        } catch (const Error& error) {
          messages[i] = error.what();
        }
      });
    for (auto& thread : threads) thread.join();
    return messages;
  };
  for (const auto& text : start({{0, 2}, {1, 3}})) expect_contains(text, "world_size = ");
  for (const auto& text : start({{1, 2}, {1, 2}}))
    expect_contains(text, "two ranks were started with rank = 1");
  for (const auto& text : start({{0, 3}, {2, 3}}))
    expect_contains(text, "of 3 ranks these did not come within 0.3 s: 1");
  for (const auto& text : start({{0, 2}, {1, 2}})) EXPECT_EQ(text, "");
}

TEST(Monitor, SaysWhoIsToBlame) {
  const auto now = dist::Clock::now();
  dist::Monitor monitor(milliseconds(1000));
  for (const int rank : {0, 1, 2}) {
    monitor.open(rank, "world", {0, 1, 2});
    monitor.start(rank, "world", 1, "barrier", now);
    monitor.finish(rank, "world", 1);
  }
  monitor.check_time(now + milliseconds(5000));
  EXPECT_FALSE(monitor.failure());
  monitor.start(0, "world", 2, "all_reduce(SUM) float32 [2]", now);
  monitor.lose(2, "ended");
  EXPECT_EQ(monitor.failure(),
            "distributed: rank 2 ended, while rank 0 waits in operation 2 of group 'world', "
            "all_reduce(SUM) float32 [2]");
  monitor.start(1, "world", 2, "barrier", now);
  EXPECT_EQ(monitor.failure()->find("barrier"), std::string::npos);  // the first one counts

  dist::Monitor idle(milliseconds(1000));
  idle.open(0, "world", {0, 1});
  idle.start(1, "world", 1, "barrier", now);
  idle.finish(1, "world", 1);
  idle.start(0, "world", 1, "barrier", now);
  idle.finish(0, "world", 1);
  idle.leave(0);
  idle.lose(0, "ended");  // after it has left
  EXPECT_FALSE(idle.failure());
  idle.lose(1, "ended");
  EXPECT_EQ(idle.failure(),
            "distributed: rank 1 ended; its last operation in group 'world' was 1, barrier");
}

}  // namespace
}  // namespace gradus
