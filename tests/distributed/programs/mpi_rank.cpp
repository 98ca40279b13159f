// mpi_rank MODE: a rank of a job that mpirun starts. Ends with 0 where all is as it should be, with
// 3 after a DistributedError, which it says.
#include <signal.h>
#include <unistd.h>

#include <iostream>

#include "collective_cases.h"

using namespace gradus;
namespace dist = gradus::distributed;

namespace {

void check_collectives(int rank, int size) {
  for (const ScalarType dtype :
       {kFloat, kDouble, kHalf, kBFloat16, kByte, kChar, kShort, kInt, kLong}) {
    test::check_reductions(rank, size, {2, 3}, dtype, kCPU);
    test::check_movements(rank, size, {2, 3}, dtype, kCPU);
  }
  for (const int64_t count : {0, 1, 1001}) {
    test::check_reductions(rank, size, {count}, kFloat, kCPU);
    test::check_movements(rank, size, {count}, kBool, kCPU);
  }
  test::check_uneven_exchange(rank, size, kCPU);
  test::check_messages(rank, size, kCPU);
  test::check_async(rank, size, kCPU);
  test::check_groups(rank, size, kCPU);
  test::check_bits(rank, size, kCPU);
  EXPECT_EQ(dist::get_backend(), "mpi");
}

nn::Sequential make_net(uint64_t seed) {
  manual_seed(seed);
  return nn::Sequential(nn::Linear(6, 20), nn::ReLU(), nn::Linear(20, 3));
}

void check_training(int rank, int size) {
  nn::Sequential net = make_net(1 + rank), alone = make_net(1);
  nn::parallel::DistributedDataParallel model(
      net, nn::parallel::DistributedDataParallelOptions().bucket_cap_mb(1e-4));
  optim::SGD sgd(model->parameters(), 0.1), alone_sgd(alone->parameters(), 0.1);
  for (int step = 0; step < 5; ++step) {
    manual_seed(step);
    const Tensor x = randn({4 * size, 6});
    sgd.zero_grad();
    alone_sgd.zero_grad();
    model(x.narrow(0, 4 * rank, 4)).square().mean().backward();
    alone->forward(x).square().mean().backward();
    sgd.step();
    alone_sgd.step();
  }
  for (const auto& item : alone->named_parameters())
    EXPECT_TRUE(
        allclose(item.value(), model->named_parameters()[item.key()], 1e-4, 1e-6))
        << item.key();
  model->join([&] {
    for (int step = 0; step <= rank; ++step)
      model(ones({1, 6})).sum().backward();
  });
}

void run(const std::string& mode, int rank, int size) {
  if (mode == "collectives") return check_collectives(rank, size);
  if (mode == "training") return check_training(rank, size);
  const int bad = size - 1;
  Tensor x = ones({4, 5});
  for (int i = 0; mode == "mismatch" ? i < 3 : true; ++i) {
    dist::all_reduce(x, dist::ReduceOp::MAX);
    if (i == 20 && rank == bad && mode == "killed") kill(getpid(), SIGKILL);
    if (i == 20 && rank == bad && mode == "stopped") kill(getpid(), SIGSTOP);
  }
  dist::all_reduce(rank == bad ? ones({5, 4}) : x);
  // MPI sees as many elements, and goes on until the watch has spoken.
  while (true) dist::all_reduce(x);
}

}  // namespace

int main(int, char** arguments) {
  testing::InitGoogleTest();
  const std::string mode = arguments[1];
  std::cout << "pid " << getpid() << std::endl;
  try {
    dist::init_process_group("mpi", "", std::chrono::milliseconds(mode == "stopped" ? 1500 : 20000));
    run(mode, dist::get_rank(), dist::get_world_size());
    dist::destroy_process_group();
    // A job may be followed by another.
    if (mode == "collectives") {
      dist::init_process_group("mpi");
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
