// Trains a small network on several ranks with DistributedDataParallel: threads of this process, or
// processes that mpirun, torchrun or SLURM starts (examples/launch). The batch of a step is the
// same however many ranks share it, so that a run may go on from its checkpoint with another
// number.
#include <gradus/data/datasets/image_dataset.h>
#include <gradus/gradus.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "program.h"
#include "save.h"

using gradus::Device, gradus::Tensor;
namespace dist = gradus::distributed;
namespace nn = gradus::nn;

struct Settings {
  std::string data = std::string(GRADUS_DATA_DIR) + "/digits", backend = "threads", checkpoint;
  int ranks = 2;
  int64_t steps = 300, batch_size = 120, save_every = 50;
  double lr = 0.05, timeout = 60;
  bool resume = false;
};

// The examples of one step: those of an order that is drawn anew for every epoch.
Tensor batch_of(int64_t step, int64_t batch_size, int64_t examples) {
  const int64_t steps = examples / batch_size, epoch = step / steps, place = step % steps;
  const auto seed = static_cast<uint64_t>(epoch) + 1;
  const auto generator = gradus::make_generator<gradus::CPUGeneratorImpl>(seed);
  return gradus::randperm(examples, generator).narrow(0, place * batch_size, batch_size);
}

void train(const Settings& settings, Device device) {
  const int rank = dist::get_rank(), ranks = dist::get_world_size();
  gradus::check(settings.batch_size % ranks == 0, "--batch ", settings.batch_size,
                " does not divide among ", ranks, " ranks; give a multiple");
  const auto data = gradus::data::load_idx_folder(settings.data);
  const Tensor images = data.images.flatten(1);
  gradus::check(settings.batch_size <= data.size(), "--batch ", settings.batch_size, ": ",
                settings.data, " has ", data.size(), " examples");

  // The parameters of rank 0 become those of all. It draws them first, for ranks that are threads
  // share one generator.
  if (rank > 0) dist::barrier();
  gradus::manual_seed(1);
  nn::Sequential net(nn::Linear(images.size(1), 64), nn::ReLU(), nn::Linear(64, data.classes));
  if (rank == 0) dist::barrier();
  net->to(device);
  nn::parallel::DistributedDataParallel model(net);
  gradus::optim::SGD sgd(model->parameters(), gradus::optim::SGDOptions(settings.lr).momentum(0.9));
  int64_t step = 0;
  if (settings.resume)
    step = gradus::serialize::load_checkpoint(settings.checkpoint, *net, sgd).step;
  if (rank == 0)
    std::cout << dist::get_backend() << ", " << ranks << " ranks on " << device << ", from step "
              << step << std::endl;

  const int64_t share = settings.batch_size / ranks;
  Tensor loss = gradus::zeros({}, device);
  for (; step < settings.steps; ++step) {
    const Tensor mine =
        batch_of(step, settings.batch_size, data.size()).narrow(0, rank * share, share);
    sgd.zero_grad();
    loss = nn::functional::cross_entropy(model(images.index_select(0, mine).to(device)),
                                         data.targets.index_select(0, mine).to(device));
    loss.backward();
    sgd.step();
    const bool saves = !settings.checkpoint.empty() && (step + 1) % settings.save_every == 0;
    if (rank == 0 && saves)
      gradus::serialize::save_checkpoint(settings.checkpoint, *net, sgd, {.step = step + 1});
  }
  loss = loss.detach().clone();
  dist::all_reduce(loss, dist::ReduceOp::AVG);
  if (rank == 0)
    std::printf("step %lld, loss %.6f\n", static_cast<long long>(step), loss.item<double>());
}

void run(const Settings& settings) {
  if (!settings.checkpoint.empty()) check_writable(settings.checkpoint);
  const std::chrono::milliseconds timeout(static_cast<int64_t>(settings.timeout * 1000));
  if (settings.backend == "threads")
    return dist::spawn_threads(
        settings.ranks, [&](int) { train(settings, gradus::kCPU); }, timeout);
  Device device = gradus::kCPU;
  if (settings.backend == "nccl")
    device = Device(gradus::kCUDA,
                    static_cast<gradus::DeviceIndex>(dist::read_environment().local_rank));
  dist::init_process_group(settings.backend, "", timeout);
  train(settings, device);
  dist::destroy_process_group();
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Trains a small network on several ranks with DistributedDataParallel.");
  app.add_option("--backend", settings.backend, "threads, mpi or nccl")->capture_default_str();
  app.add_option("--ranks", settings.ranks, "of threads; a launcher says how many processes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--data", settings.data, "a folder with IDX files")->capture_default_str();
  app.add_option("--steps", settings.steps, "in all, also where resumed")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--batch", settings.batch_size, "examples of a step, of all ranks together")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
      ->capture_default_str();
  app.add_option("--lr", settings.lr, "learning rate")
      ->check(positive_number())
      ->capture_default_str();
  app.add_option("--timeout", settings.timeout, "seconds for one call of all ranks")
      ->check(number_in(0.001, 1e6))
      ->capture_default_str();
  auto* const file = app.add_option("--checkpoint", settings.checkpoint, "file that is written");
  app.add_option("--save-every", settings.save_every, "steps")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  app.add_flag("--resume", settings.resume, "go on from --checkpoint")->needs(file);
  return run_program(app, argc, argv, [&] { run(settings); });
}
