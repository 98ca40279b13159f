// Training steps of an MLP on 1 to N GPUs, and what a model of their time is made of.
//
//   bench_scaling single|data_parallel|together|ddp|profile BATCHES [DEVICES]
//   bench_scaling all_reduce
//
// BATCHES are the rows on each device: one or more numbers, as in 512,4096. together, ddp and
// all_reduce run one process for each device, started with the environment of torchrun; the others
// run them all. together: ranks that exchange no gradients, but wait for one another after each
// step. profile says when, on one device, the parts of a step have ended. Loss and optimizer are
// MSE and SGD; every step's gradients are new ones. bench/scaling.py runs all of it;
// bench/scaling_peer.py does the steps in PyTorch.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <sstream>
#include <string>

#include "bench/timer.h"

using namespace gradus;

namespace {

using Batches = std::vector<int64_t>;

nn::Sequential make_model(Device device) {
  manual_seed(1);
  nn::Sequential net(nn::Linear(4096, 8192), nn::ReLU(), nn::Linear(8192, 8192), nn::ReLU(),
                     nn::Linear(8192, 1024));
  net->to(device);
  return net;
}

template <class M>
struct Trainer {
  Trainer(M& trained, int64_t rows, Device device)
      : model(trained),
        x(randn({rows, 4096}, device)),
        y(randn({rows, 1024}, device)),
        sgd(model->parameters(), optim::SGDOptions(1e-3)) {}

  Tensor forward() {
    sgd.zero_grad();
    return nn::functional::mse_loss(model->forward(x), y);
  }
  void step() {
    forward().backward();
    sgd.step();
    after_step();
  }

  std::function<void()> after_step = [] {};
  M& model;
  Tensor x, y;
  optim::SGD sgd;
};

// The steps of a round: about a tenth of a second, and the same number at all ranks.
int steps_of(int64_t batch) { return static_cast<int>(std::clamp<int64_t>(12000 / batch, 3, 24)); }

template <class M>
void time_steps(
    const std::string& mode, M& model, const Batches& batches, int devices, int devices_here,
    bool reports, const std::function<void()>& after_step = [] {}) {
  const Device home(kCUDA, static_cast<DeviceIndex>(cuda::current_device()));
  for (const int64_t batch : batches) {
    Trainer<M> trainer(model, batch * devices_here, home);
    trainer.after_step = after_step;
    const double seconds = bench::host_seconds([&] { trainer.step(); }, 7, steps_of(batch),
                                               [&] {
                                                 for (int i = 0; i < devices_here; ++i)
                                                   cuda::synchronize(home.index() + i);
                                               });
    const std::string name =
        mode + ", batch " + std::to_string(batch) + " on " + std::to_string(devices);
    if (reports)
      bench::report(name.c_str(), "gradus", seconds, static_cast<double>(batch * devices),
                    "samples");
  }
}

void run_single(const Batches& batches) {
  auto net = make_model(Device(kCUDA, 0));
  time_steps("single", net, batches, 1, 1, true);
}

void run_data_parallel(const Batches& batches, int devices) {
  std::vector<int> ids;
  for (int i = 0; i < devices; ++i) ids.push_back(i);
  nn::DataParallel model(make_model(Device(kCUDA, 0)), ids);
  time_steps("data_parallel", model, batches, devices, devices, true);
}

// This process's device, after the start of the job.
Device join_job() {
  const int local_rank = distributed::read_environment().local_rank;
  const Device device(kCUDA, static_cast<DeviceIndex>(local_rank));
  cuda::set_device(device.index());
  distributed::init_process_group("nccl");
  return device;
}

void run_together(const Batches& batches) {
  const Device device = join_job();
  auto net = make_model(device);
  const Tensor one = ones({1}, device);
  time_steps("together", net, batches, distributed::get_world_size(), 1,
             distributed::get_rank() == 0,
             [&] { distributed::all_reduce(one, distributed::ReduceOp::MAX); });
  distributed::destroy_process_group();
}

void run_ddp(const Batches& batches) {
  auto net = make_model(join_job());
  const int ranks = distributed::get_world_size();
  const bool reports = distributed::get_rank() == 0;
  nn::parallel::DistributedDataParallel model(net);
  time_steps("ddp", model, batches, ranks, 1, reports);
  const std::vector<size_t> buckets = model->bucket_sizes();
  for (size_t i = 0; reports && i < buckets.size(); ++i) {
    const std::string name = "ddp, bucket " + std::to_string(i) + " on " + std::to_string(ranks);
    bench::report(name.c_str(), "gradus", 0, static_cast<double>(buckets[i]), "B");
  }
  distributed::destroy_process_group();
}

// One call after the other, as the buckets of a step are reduced.
void run_all_reduce() {
  const Device device = join_job();
  const int ranks = distributed::get_world_size();
  for (int64_t bytes = 4 << 10; bytes <= int64_t{512} << 20; bytes *= 2) {
    Tensor x = ones({bytes / 4}, device);
    const int calls = bytes <= (1 << 20) ? 50 : bytes <= (64 << 20) ? 20 : 5;
    const double seconds =
        bench::host_seconds([&] { distributed::all_reduce(x, distributed::ReduceOp::AVG); }, 5,
                            calls, [&] { cuda::synchronize(device.index()); });
    const std::string name =
        "all_reduce of " + std::to_string(bytes) + " B on " + std::to_string(ranks);
    if (distributed::get_rank() == 0)
      bench::report(name.c_str(), "gradus", seconds, static_cast<double>(bytes), "B");
  }
  distributed::destroy_process_group();
}

// The medians of what events say, from the start of a step: when its forward pass has ended, when
// each gradient was there, when its backward pass and its optimizer had ended.
void run_profile(const Batches& batches) {
  auto net = make_model(Device(kCUDA, 0));
  struct Mark {
    std::string name;
    double bytes;
    cuda::Event event{/*enable_timing=*/true};
  };
  std::deque<Mark> marks;
  const auto mark = [&](const std::string& name, double bytes) {
    marks.push_back({name, bytes});
    marks.back().event.record();
  };
  for (const auto& item : net->named_parameters()) {
    const auto bytes = static_cast<double>(item.value().nbytes());
    item.value().register_hook(
        [&mark, name = "gradient " + item.key(), bytes](const Tensor&) { mark(name, bytes); });
  }
  for (const int64_t batch : batches) {
    Trainer<nn::Sequential> trainer(net, batch, Device(kCUDA, 0));
    std::vector<std::string> order;
    std::map<std::string, std::pair<std::vector<double>, double>> times;  // and bytes
    for (int step = -3; step < 20; ++step) {
      marks.clear();
      mark("begin", 0);
      const Tensor loss = trainer.forward();
      mark("forward", 0);
      loss.backward();
      mark("backward", 0);
      trainer.sgd.step();
      mark("step", 0);
      cuda::synchronize(0);
      if (step < 0) continue;
      for (const Mark& at : marks) {
        auto& [seconds, bytes] = times[at.name];
        if (seconds.empty()) order.push_back(at.name);
        seconds.push_back(static_cast<double>(marks[0].event.elapsed_time(at.event)) * 1e-3);
        bytes = at.bytes;
      }
    }
    for (const std::string& name : order) {
      const auto& [seconds, bytes] = times[name];
      const std::string line = "profile, batch " + std::to_string(batch) + ", " + name;
      bench::report(line.c_str(), "gradus", bench::median(seconds), bytes, "B");
    }
  }
}

// "512,4096"; empty where it is no such list.
Batches parse(const std::string& text) {
  Batches out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    out.push_back(std::atoll(part.c_str()));
    if (out.back() <= 0) return {};
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const Batches batches = parse(argc > 2 ? argv[2] : "");
  const int devices = argc > 3 ? std::atoi(argv[3]) : 2;
  try {
    if (mode == "all_reduce") {
      run_all_reduce();
    } else if (batches.empty() || devices < 1) {
      std::fprintf(stderr,
                   "usage: bench_scaling single|data_parallel|together|ddp|profile BATCHES "
                   "[DEVICES]\n"
                   "       bench_scaling all_reduce\n");
      return 2;
    } else if (mode == "single") {
      run_single(batches);
    } else if (mode == "data_parallel") {
      run_data_parallel(batches, devices);
    } else if (mode == "together") {
      run_together(batches);
    } else if (mode == "ddp") {
      run_ddp(batches);
    } else if (mode == "profile") {
      run_profile(batches);
    } else {
      fail("there is no mode '", mode, "'");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_scaling: %s\n", error.what());
    return 1;
  }
}
