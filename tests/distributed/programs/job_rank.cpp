// job_rank --backend BACKEND MODE: a rank of a job. Ends with 0 where all is as it should be, with
// 3 after a DistributedError, which it says, and with 77 where there are too few GPUs.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "collective_cases.h"
#include "gradus/distributed/world.h"

using namespace gradus;
namespace dist = gradus::distributed;

namespace {

// Of a GPU, where the backend is nccl.
Device here = kCPU;

void check_collectives(int rank, int size) {
  const bool nccl = here.is_cuda();
  for (const ScalarType dtype :
       {kFloat, kDouble, kHalf, kBFloat16, kByte, kChar, kShort, kInt, kLong}) {
    if (!nccl || dtype != kShort) test::check_reductions(rank, size, {2, 3}, dtype, here);
    test::check_movements(rank, size, {2, 3}, dtype, here);
  }
  for (const int64_t count : {0, 1, 1001}) {
    test::check_reductions(rank, size, {count}, kFloat, here);
    test::check_movements(rank, size, {count}, kBool, here);
  }
  test::check_uneven_exchange(rank, size, here);
  if (!nccl) test::check_messages(rank, size, here);
  test::check_async(rank, size, here);
  test::check_groups(rank, size, here);
  test::check_bits(rank, size, here);
  EXPECT_EQ(dist::get_backend(), nccl ? "nccl" : "mpi");
}

nn::Sequential make_net(uint64_t seed) {
  manual_seed(seed);
  nn::Sequential net(nn::Linear(6, 20), nn::ReLU(), nn::Linear(20, 3));
  net->to(here);
  return net;
}

void check_training(int rank, int size) {
  nn::Sequential net = make_net(1 + rank), alone = make_net(1);
  nn::parallel::DistributedDataParallel model(
      net, nn::parallel::DistributedDataParallelOptions().bucket_cap_mb(1e-4));
  optim::SGD sgd(model->parameters(), 0.1), alone_sgd(alone->parameters(), 0.1);
  for (int step = 0; step < 5; ++step) {
    manual_seed(step);
    const Tensor x = randn({4 * size, 6}).to(here);
    sgd.zero_grad();
    alone_sgd.zero_grad();
    model(x.narrow(0, 4 * rank, 4)).square().mean().backward();
    alone->forward(x).square().mean().backward();
    sgd.step();
    alone_sgd.step();
  }
  for (const auto& item : alone->named_parameters())
    EXPECT_TRUE(allclose(item.value(), model->named_parameters()[item.key()], 1e-4, 1e-6))
        << item.key();
  model->join([&] {
    for (int step = 0; step <= rank; ++step) model(ones({1, 6}).to(here)).sum().backward();
  });
}

// Of the ranks that make a group the last one stops when all have said that they will, and when the
// job's watch has heard that this call ended.
void stop_in_new_group(int rank, int size) {
  if (rank < size - 1) {
    dist::new_group();
    return;
  }
  const dist::Group all = dist::world("job_rank").group;
  all->submit("new_group []", {}, [&] { all->barrier(); })->wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(getpid(), SIGSTOP);
}

void run(const std::string& mode, int rank, int size) {
  if (mode == "collectives") return check_collectives(rank, size);
  if (mode == "training") return check_training(rank, size);
  if (mode == "stopped_in_new_group") return stop_in_new_group(rank, size);
  const int bad = size - 1;
  Tensor x = ones({4, 5}).to(here);
  for (int i = 0; mode == "mismatch" ? i < 3 : true; ++i) {
    dist::all_reduce(x, dist::ReduceOp::MAX);
    if (i == 20 && rank == bad && mode == "killed") kill(getpid(), SIGKILL);
    if (i == 20 && rank == bad && mode == "stopped") kill(getpid(), SIGSTOP);
  }
  dist::all_reduce(rank == bad ? ones({5, 4}).to(here) : x);
  // MPI sees as many elements. No rank may get a result, which others would be wrong for.
  check<Error>(dist::world("job_rank").backend != "mpi", "a mismatched call has a result");
  while (true) dist::all_reduce(x);
}

}  // namespace

int main(int, char** arguments) {
  testing::InitGoogleTest();
  const std::string backend = arguments[2], mode = arguments[3];
  std::cout << "pid " << getpid() << std::endl;
  try {
    if (backend == "nccl") {
      const int rank = dist::read_environment().rank, size = dist::read_environment().world_size;
      if (cuda::device_count() < size) {
        std::cout << "skipped: " << size << " GPUs are needed, and there are "
                  << cuda::device_count() << std::endl;
        return 77;
      }
      cuda::set_device(mode == "same_gpu" ? static_cast<int>(cuda::device_count()) - 1 : rank);
      here = Device(kCUDA, static_cast<DeviceIndex>(cuda::current_device()));
    }
    dist::init_process_group(backend, "",
                             std::chrono::milliseconds(mode.starts_with("stopped") ? 1500 : 20000));
    run(mode, dist::get_rank(), dist::get_world_size());
    dist::destroy_process_group();
    // Another job may follow.
    if (mode == "collectives" && backend == "mpi") {
      dist::init_process_group(backend);
      dist::barrier();
      dist::destroy_process_group();
    }
  } catch (const dist::DistributedError& error) {
    std::cout << "said: " << error.what() << std::endl;
    sleep(1);  // mpirun ends the others when one ends
    return 3;
  } catch (const std::exception& error) {
    std::cout << "other: " << error.what() << std::endl;
    return 4;
  }
  return testing::UnitTest::GetInstance()->Failed();
}
