// The collectives of the backend `threads`, on the CPU and on CUDA devices.
#include <chrono>
#include <thread>

#include "collective_cases.h"

namespace gradus {
namespace {

namespace dist = distributed;

class Threads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Threads, testing::Range(1, 9));

const std::vector<ScalarType> all_dtypes = {kFloat, kDouble, kHalf, kBFloat16, kByte,
                                            kChar,  kShort,  kInt,  kLong};

TEST_P(Threads, ReductionsOfEveryDtypeAndSize) {
  dist::spawn_threads(GetParam(), [&](int rank) {
    for (const ScalarType dtype : all_dtypes)
      test::check_reductions(rank, GetParam(), {2, 3}, dtype, kCPU);
    for (const int64_t count : {0, 1, 2, 17, 1001})
      test::check_reductions(rank, GetParam(), {count}, kFloat, kCPU);
    test::check_reductions(rank, GetParam(), {}, kDouble, kCPU);
  });
}

TEST_P(Threads, MovementsOfEveryDtypeAndSize) {
  dist::spawn_threads(GetParam(), [&](int rank) {
    for (const ScalarType dtype : all_dtypes)
      test::check_movements(rank, GetParam(), {2, 3}, dtype, kCPU);
    test::check_movements(rank, GetParam(), {4}, kBool, kCPU);
    for (const int64_t count : {0, 1, 1001})
      test::check_movements(rank, GetParam(), {count}, kFloat, kCPU);
    test::check_uneven_exchange(rank, GetParam(), kCPU);
  });
}

TEST_P(Threads, MessagesGroupsAndHandles) {
  dist::spawn_threads(GetParam(), [&](int rank) {
    test::check_messages(rank, GetParam(), kCPU);
    test::check_async(rank, GetParam(), kCPU);
    test::check_groups(rank, GetParam(), kCPU);
    test::check_bits(rank, GetParam(), kCPU);
  });
}

TEST(ThreadsCuda, EveryRankOnADeviceOfItsOwnOrTheSame) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const int64_t devices = cuda::device_count();
  for (const int size : {2, 3, 4})
    for (const int64_t used : {int64_t{1}, devices})
      dist::spawn_threads(size, [&](int rank) {
        const Device device(kCUDA, static_cast<DeviceIndex>(rank % used));
        test::check_reductions(rank, size, {2, 3}, kFloat, device);
        test::check_reductions(rank, size, {1001}, kHalf, device);
        test::check_movements(rank, size, {5}, kLong, device);
        test::check_uneven_exchange(rank, size, device);
        test::check_messages(rank, size, device);
        test::check_async(rank, size, device);
        test::check_groups(rank, size, device);
        test::check_bits(rank, size, device);
      });
}

TEST(Threads, TheCallerComputesOnlyWhatItWaitedFor) {
  dist::spawn_threads(2, [](int rank) {
    Tensor x = ones({3});
    const uint32_t version = x._version();
    dist::all_reduce(x);
    EXPECT_GT(x._version(), version);  // autograd sees the change
    EXPECT_EQ(dist::get_rank(), rank);
    EXPECT_EQ(dist::get_world_size(), 2);
    EXPECT_EQ(dist::get_backend(), "threads");
    EXPECT_TRUE(dist::is_initialized());
  });
  EXPECT_FALSE(dist::is_initialized());
}

TEST(Threads, AMessageMayArriveAfterItsGroupIsGone) {
  dist::spawn_threads(2, [](int rank) {
    Tensor x = zeros({2});
    if (rank == 1) {
      const dist::WorkPtr work = dist::irecv(x, 0);
      dist::destroy_process_group();
      work->wait();
      EXPECT_TRUE(equal(x, full({2}, 3.)));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      dist::send(full({2}, 3.), 1);
    }
  });
}

TEST(Threads, AMessageThatNeverArrivesAfterItsGroupIsGoneIsAnError) {
  for (const int64_t sent : {0, 3})
    dist::spawn_threads(
        2,
        [&](int rank) {
          Tensor x = zeros({2});
          if (rank == 0) {
            if (sent > 0) dist::send(ones({sent}), 1);
            return;
          }
          const dist::WorkPtr work = dist::irecv(x, 0);
          dist::destroy_process_group();
          expect_error<dist::DistributedError>(
              [&] { work->wait(); }, sent > 0 ? "rank 0 sent float32 [3]" : "nobody sent it");
        },
        dist::Milliseconds(300));
}

TEST(Threads, BoolsSumToTheirDisjunction) {
  dist::spawn_threads(3, [](int rank) {
    Tensor x = tensor({rank == 0, rank == 1, false});
    dist::all_reduce(x);
    EXPECT_TRUE(equal(x, tensor({true, true, false})));
  });
}

TEST(Threads, TheOrderOfASumIsThatOfTheRing) {
  // Chunk r of the tensor is added up from rank r on.
  dist::spawn_threads(3, [](int rank) {
    const float values[3] = {1e8F, -1e8F, 1};
    Tensor x = full({3}, values[rank]);
    dist::all_reduce(x);
    const auto sum = [&](int a, int b, int c) {
      return static_cast<double>((values[a] + values[b]) + values[c]);
    };
    expect_values(x, {sum(0, 1, 2), sum(1, 2, 0), sum(2, 0, 1)});
  });
}

}  // namespace
}  // namespace gradus
