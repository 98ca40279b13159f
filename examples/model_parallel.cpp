// Splits the product x * transpose(w) of two large matrices among several devices: each has all of
// x and some rows of w, and computes the columns of the result that these give. That is what
// ColumnParallelLinear does with the weight of a linear layer. Prints what each number of devices
// is worth, and checks samples of the result against sums in double precision.
#include <gradus/gradus.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "devices.h"
#include "program.h"
#include "table.h"

using gradus::Device, gradus::Tensor;
namespace dist = gradus::distributed;

// Seconds from when all ranks begin until all have ended: the median of `rounds`, after one more.
double seconds_of(Device device, int rounds, const std::function<void()>& run) {
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    dist::barrier();
    const auto start = std::chrono::steady_clock::now();
    run();
    if (device.is_cuda()) gradus::cuda::synchronize(device.index());
    dist::barrier();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (round > 0) times.push_back(spent.count());
  }
  const auto middle = times.begin() + rounds / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// The largest difference of a sample of this rank's columns of y from sums in double precision,
// over the largest of these sums.
double error_of(const Tensor& y, const Tensor& x, const Tensor& part_of_w) {
  constexpr int64_t kSamples = 64;
  const int64_t columns = part_of_w.size(0), first = dist::get_rank() * columns;
  const Tensor i = gradus::randint(x.size(0), {kSamples}), j = gradus::randint(columns, {kSamples});
  const auto rows = [](const Tensor& from, const Tensor& indices) {
    return from.index_select(0, indices.to(from.device())).to(gradus::kCPU).to(gradus::kDouble);
  };
  const Tensor expected = rows(x, i).mm(rows(part_of_w, j).t());
  const Tensor got = rows(y, i).index_select(1, j + first);
  return ((got - expected).abs().max() / expected.abs().max()).item<double>();
}

struct Result {
  double split;     // seconds until each device has its part of the result
  double gathered;  // until each has all of it
  double error;
};

// x is on the CPU.
Result run(const Tensor& x, const Devices& devices, int rounds) {
  Result result{};
  dist::spawn_threads(static_cast<int>(devices.size()), [&](int rank) {
    const gradus::NoGradGuard no_grad;
    const Device device = devices[static_cast<size_t>(rank)];
    if (device.is_cuda()) gradus::cuda::set_device(device.index());
    dist::ColumnParallelLinear product(
        dist::ParallelLinearOptions(x.size(1), x.size(1)).bias(false));
    product->to(device);
    const Tensor here = x.to(device);

    const Tensor error = gradus::tensor(error_of(product(here), here, product->weight));
    dist::all_reduce(error, dist::ReduceOp::MAX);
    const double gathered = seconds_of(device, rounds, [&] { product(here); });
    product->options.gather_output(false);
    const double split = seconds_of(device, rounds, [&] { product(here); });
    if (rank == 0) result = {split, gathered, error.item<double>()};
  });
  return result;
}

int main(int argc, char** argv) {
  std::vector<std::string> names;
  int replicas = 4, rounds = 5;
  int64_t size = 0;
  CLI::App app(
      "Splits the product of two square float32 matrices among 1, 2, ... devices, and\n"
      "prints what each number of devices is worth. Uses all GPUs; without any, the CPU\n"
      "several times.");
  app.add_option("--devices", names, "the devices, in their order: cuda:0 cuda:1, or cpu cpu");
  app.add_option("--replicas", replicas, "on the CPU, where there is no GPU")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--size", size, "rows and columns (16000; 1000 where a CPU computes)")
      ->check(CLI::Range(1, 1 << 17));
  app.add_option("--rounds", rounds, "that are timed; the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  return run_program(app, argc, argv, [&] {
    std::string remark;
    const Devices devices = choose_devices(names, replicas, remark);
    const auto is_gpu = [](Device device) {
      return device.is_cuda() && !gradus::cuda::getDeviceProperties(device.index()).simulated;
    };
    const bool gpus = std::all_of(devices.begin(), devices.end(), is_gpu);
    if (size == 0) size = gpus ? 16000 : 1000;
    if (!gpus && remark.empty())
      remark = "Not all of these are GPUs: the times say nothing of several GPUs.";
    if (!remark.empty()) std::cout << remark << "\n";
    std::cout << format("a product of %lld x %lld matrices, on ", static_cast<long long>(size),
                        static_cast<long long>(size))
              << joined(devices) << "\n\n";
    gradus::manual_seed(1);
    const Tensor x = gradus::randn({size, size});
    Table table({"devices", "time", "TFLOP/s", "speed-up", "gathered", "speed-up", "error"});
    Result alone{};
    double worst = 0;
    for (const size_t n : counts_up_to(devices.size())) {
      if (size % static_cast<int64_t>(n) != 0) {
        std::cout << n << " devices: left out, they cannot share " << size << " columns evenly\n";
        continue;
      }
      const Result result =
          run(x, Devices(devices.begin(), devices.begin() + static_cast<long>(n)), rounds);
      if (n == 1) alone = result;
      worst = std::max(worst, result.error);
      const double edge = static_cast<double>(size), operations = 2 * edge * edge * edge;
      table.add({std::to_string(n), format("%.3f ms", result.split * 1e3),
                 format("%.2f", operations / result.split * 1e-12),
                 format("%.2f", alone.split / result.split),
                 format("%.3f ms", result.gathered * 1e3),
                 format("%.2f", alone.gathered / result.gathered), format("%.1e", result.error)});
    }
    std::cout << table << R"(
time: until each device has its columns of the result, as the next layer of a model may want them.
gathered: until each device has all columns. Both begin with the operands in place, and are medians.
error: the largest of 64 x 64 samples on each device, against sums in double precision and relative
to the largest of these.
)";
    gradus::check<gradus::Error>(worst < 1e-4, "a product is wrong: its relative error is ", worst);
  });
}
