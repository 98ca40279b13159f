// Trains one network on several devices at once, beside the same training on one device: how fast
// each number of devices is, how far the weights are apart, and that they are exactly those which
// the shards of the batch give one after the other.
#include <gradus/gradus.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "devices.h"
#include "program.h"
#include "table.h"

using gradus::Device, gradus::Tensor, gradus::Tensors;
namespace nn = gradus::nn;

struct Sizes {
  int64_t in = 128, hidden = 256, out = 16;
  int64_t batch = 256;  // rows of each device
  int64_t steps = 10;
};

struct MlpImpl : nn::Cloneable<MlpImpl> {
  explicit MlpImpl(const Sizes& sizes_) : sizes(sizes_) { reset(); }
  void reset() override {
    fc1 = register_module("fc1", nn::Linear(sizes.in, sizes.hidden));
    fc2 = register_module("fc2", nn::Linear(sizes.hidden, sizes.hidden));
    fc3 = register_module("fc3", nn::Linear(sizes.hidden, sizes.out));
  }
  Tensor forward(const Tensor& x) { return fc3(fc2(fc1(x).relu()).relu()); }
  Sizes sizes;
  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};
GRADUS_MODULE(Mlp);

struct Batch {
  Tensor x, target;
};

void wait_for(const Devices& devices) {
  for (const Device device : devices)
    if (device.is_cuda()) gradus::cuda::synchronize(device.index());
}

// The same weights every time.
Mlp fresh_net(const Sizes& sizes, Device device) {
  gradus::manual_seed(1);
  Mlp net(sizes);
  net->to(device);
  return net;
}

struct Trainer {
  Trainer(const Sizes& sizes, Device device)
      : net(fresh_net(sizes, device)),
        sgd(net->parameters(), gradus::optim::SGDOptions(0.01).momentum(0.9)) {}

  // `model` is the net, or something that runs it.
  template <class Model>
  void step(Model& model, const Batch& batch) {
    sgd.zero_grad();
    loss(model(batch.x), batch.target).backward();
    sgd.step();
  }

  // One step over the shards of the batch, one after the other on this device.
  void step_by_shards(const Batch& batch, int64_t shards) {
    Tensors outputs;
    for (const Tensor& shard : batch.x.chunk(shards)) outputs.push_back(net(shard));
    const Tensor all = gradus::cat(outputs).detach().requires_grad_();
    loss(all, batch.target).backward();
    const Tensors weights = net->parameters();
    std::vector<Tensors> grads(weights.size());
    int64_t begin = 0;
    for (const Tensor& y : outputs) {
      const Tensor of_y = all.grad().narrow(0, begin, y.size(0));
      const Tensors of_shard = gradus::autograd::grad({y}, weights, {of_y});
      for (size_t i = 0; i < weights.size(); ++i) grads[i].push_back(of_shard[i]);
      begin += y.size(0);
    }
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i].mutable_grad() = nn::parallel::sum_in_chain(grads[i]);
    sgd.step();
  }

  Mlp net;
  gradus::optim::SGD sgd;
  nn::CrossEntropyLoss loss;
};

Batch random_batch(const Sizes& sizes, size_t devices, Device device) {
  gradus::manual_seed(2);
  const int64_t rows = sizes.batch * static_cast<int64_t>(devices);
  return {gradus::randn({rows, sizes.in}).to(device),
          gradus::randint(sizes.out, {rows}).to(device)};
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().cpu(), y = b.detach().cpu();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

struct Result {
  double seconds;     // of a step
  double difference;  // of a weight, from training on one device without shards
  bool exact;         // bit for bit what the shards give on one device
};

Result run(const Sizes& sizes, const Devices& devices) {
  Result result{};
  const Device home = devices[0];
  const Batch batch = random_batch(sizes, devices.size(), home);
  Trainer parallel(sizes, home), plain(sizes, home), shards(sizes, home);
  nn::DataParallel model(parallel.net, devices);
  constexpr int kProofSteps = 3;
  for (int i = 0; i < kProofSteps; ++i) {  // also the warm-up
    parallel.step(model, batch);
    plain.step(plain.net, batch);
    shards.step_by_shards(batch, static_cast<int64_t>(devices.size()));
  }
  result.exact = true;
  const Tensors got = parallel.net->parameters();
  for (size_t i = 0; i < got.size(); ++i) {
    result.exact = result.exact && same_bits(got[i], shards.net->parameters()[i]);
    const Tensor apart = (got[i] - plain.net->parameters()[i]).abs().max();
    result.difference = std::max(result.difference, apart.item<double>());
  }
  wait_for(devices);
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < sizes.steps; ++i) parallel.step(model, batch);
  wait_for(devices);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  result.seconds = elapsed.count() / static_cast<double>(sizes.steps);
  return result;
}

int main(int argc, char** argv) {
  Sizes sizes;
  std::vector<std::string> names;
  int replicas = 4;
  bool large = false;
  CLI::App app(
      "Trains a network of three layers with nn::DataParallel on 1, 2, ... devices, the\n"
      "same number of rows on each, and prints what each number of devices is worth.\n"
      "Uses all GPUs; without any, replicas on the CPU.");
  app.add_option("--devices", names, "the devices, in their order: cuda:0 cuda:1, or cpu cpu");
  app.add_option("--replicas", replicas, "on the CPU, where there is no GPU")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("--large", large, "4096-8192-8192-1024 and 512 rows on each device");
  const auto size = [&](const char* name, int64_t& value, const char* what) {
    return app.add_option(name, value, what)
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
        ->capture_default_str();
  };
  size("--in", sizes.in, "features of the input");
  size("--hidden", sizes.hidden, "features of the two hidden layers");
  size("--classes", sizes.out, "features of the output");
  size("--batch", sizes.batch, "rows on each device");
  size("--steps", sizes.steps, "that are timed");
  return run_program(app, argc, argv, [&] {
    if (large) sizes = {4096, 8192, 1024, 512, sizes.steps};
    std::string remark;
    const Devices devices = choose_devices(names, replicas, remark);
    if (!remark.empty()) std::cout << remark << "\n";
    std::cout << format("%lld-%lld-%lld-%lld, %lld rows on each device, on ",
                        static_cast<long long>(sizes.in), static_cast<long long>(sizes.hidden),
                        static_cast<long long>(sizes.hidden), static_cast<long long>(sizes.out),
                        static_cast<long long>(sizes.batch))
              << joined(devices) << "\n\n";
    Table table({"devices", "step", "samples/s", "efficiency", "difference", "bit for bit"});
    double alone = 0;
    bool exact = true;
    for (const size_t n : counts_up_to(devices.size())) {
      const Result last =
          run(sizes, Devices(devices.begin(), devices.begin() + static_cast<long>(n)));
      const double rate = static_cast<double>(sizes.batch) * static_cast<double>(n) / last.seconds;
      if (n == 1) alone = rate;
      exact = exact && last.exact;
      table.add({std::to_string(n), with_unit(last.seconds, "s"), format("%.0f", rate),
                 format("%.3f", rate / static_cast<double>(n) / alone),
                 format("%.1e", last.difference), last.exact ? "yes" : "NO"});
    }
    std::cout << table << R"(
efficiency: samples/s of each device, against one alone. difference: the largest of a weight after
three steps, from training on one device with the whole batch at once, whose sums are rounded in
another order. bit for bit: whether all weights are exactly those that the shards of the batch give
one after the other on one device.
)";
    if (!exact) throw gradus::Error("the weights are not bit for bit those of the shards");
  });
}
