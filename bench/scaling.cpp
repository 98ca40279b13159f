// Weak scaling: training steps of an MLP on 1 to N devices, with the same batch for each.
//
//   bench_scaling single|data_parallel|ddp BATCH [DEVICES]
//
// ddp runs one process for each device, started with the environment of torchrun; the others run
// them all. Loss and optimizer are MSE and SGD; every step's gradients are new ones.
// bench/scaling_peer.py does the same in PyTorch.
#include <cstdlib>
#include <string>

#include "bench/timer.h"

using namespace gradus;

namespace {

nn::Sequential make_model() {
  return nn::Sequential(nn::Linear(4096, 8192), nn::ReLU(), nn::Linear(8192, 8192), nn::ReLU(),
                        nn::Linear(8192, 1024));
}

void finish(int devices) {
  for (int i = 0; i < devices; ++i) cuda::synchronize(i);
}

template <class M, class F>
double seconds_per_step(M& model, const Tensor& x, const Tensor& y, F wait) {
  optim::SGD sgd(model->parameters(), optim::SGDOptions(1e-3));
  const auto step = [&] {
    sgd.zero_grad();
    nn::functional::mse_loss(model->forward(x), y).backward();
    sgd.step();
  };
  const int calls = x.size(0) > 4096 ? 10 : 30;
  return bench::host_seconds(step, 5, calls, wait);
}

void report(const std::string& mode, int64_t batch, int devices, double seconds) {
  const std::string name = "batch " + std::to_string(batch) + " on " + std::to_string(devices);
  bench::report((mode + ", " + name).c_str(), "gradus", seconds,
                static_cast<double>(batch * devices), "samples");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int64_t batch = argc > 2 ? std::atoi(argv[2]) : 0;
  if (batch <= 0 || (mode != "single" && mode != "data_parallel" && mode != "ddp")) {
    std::fprintf(stderr, "usage: bench_scaling single|data_parallel|ddp BATCH [DEVICES]\n");
    return 2;
  }
  manual_seed(1);
  if (mode == "ddp") {
    const char* const local_rank = std::getenv("LOCAL_RANK");
    const Device device(kCUDA, static_cast<DeviceIndex>(local_rank ? std::atoi(local_rank) : 0));
    cuda::set_device(device.index());
    distributed::init_process_group("nccl");
    auto net = make_model();
    net->to(device);
    nn::parallel::DistributedDataParallel model(net);
    const Tensor x = randn({batch, 4096}, device), y = randn({batch, 1024}, device);
    const double seconds =
        seconds_per_step(model, x, y, [&] { cuda::synchronize(device.index()); });
    if (distributed::get_rank() == 0) report(mode, batch, distributed::get_world_size(), seconds);
    distributed::destroy_process_group();
    return 0;
  }
  const int devices = mode == "single" ? 1 : argc > 3 ? std::atoi(argv[3]) : 2;
  const Device home(kCUDA, 0);
  auto net = make_model();
  net->to(home);
  const Tensor x = randn({batch * devices, 4096}, home), y = randn({batch * devices, 1024}, home);
  const auto wait = [&] { finish(devices); };
  if (mode == "single") {
    report(mode, batch, 1, seconds_per_step(net, x, y, wait));
    return 0;
  }
  std::vector<int> ids;
  for (int i = 0; i < devices; ++i) ids.push_back(i);
  nn::DataParallel model(net, ids);
  report(mode, batch, devices, seconds_per_step(model, x, y, wait));
}
