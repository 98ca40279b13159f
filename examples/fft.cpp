// The Fourier transform of ten million complex numbers on the CPU and on the GPU, and of powers of
// two: from which length on is the GPU faster, with and without the way there and back?
#include <gradus/gradus.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "program.h"
#include "table.h"

using gradus::Device, gradus::Tensor;

struct Times {
  double cpu;
  std::optional<double> gpu, gpu_with_transfer;
};

// Seconds of one call, the device waited for: the best of several after a first one, which makes
// the plan.
double seconds_of(const std::function<void()>& run, bool gpu) {
  double best = 1e9, sum = 0;
  run();
  for (int i = 0; i < 100 && (i < 3 || sum < 0.3); ++i) {
    if (gpu) gradus::cuda::synchronize();
    const auto start = std::chrono::steady_clock::now();
    run();
    if (gpu) gradus::cuda::synchronize();
    const double time =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, time), sum += time;
  }
  return best;
}

Times measure(int64_t n, bool gpu) {
  const Tensor x = gradus::randn({n}, gradus::kComplexDouble);
  Times times{seconds_of([&] { gradus::fft::fft(x); }, false), {}, {}};
  if (!gpu) return times;
  const Tensor there = x.cuda();
  times.gpu = seconds_of([&] { gradus::fft::fft(there); }, true);
  times.gpu_with_transfer = seconds_of([&] { gradus::fft::fft(x.cuda()).cpu(); }, true);
  return times;
}

// The first length from which on all are faster, as text.
std::string crossing(const std::vector<int64_t>& lengths, const std::vector<bool>& faster) {
  size_t first = lengths.size();
  while (first > 0 && faster[first - 1]) --first;
  return first < lengths.size() ? std::to_string(lengths[first]) : "no length of this table";
}

void run(int64_t numbers, bool gpu) {
  std::vector<int64_t> lengths;
  for (int64_t n = 256; n < numbers; n *= 4) lengths.push_back(n);
  lengths.push_back(numbers);
  Table::Row header{"complex128 numbers", "CPU"};
  if (gpu) header.insert(header.end(), {"GPU", "GPU with transfer", "speed-up", "with transfer"});
  Table table(header);
  std::vector<bool> faster, faster_with_transfer;
  for (const int64_t n : lengths) {
    const Times times = measure(n, gpu);
    Table::Row row{std::to_string(n), with_unit(times.cpu, "s")};
    if (gpu) {
      faster.push_back(*times.gpu < times.cpu);
      faster_with_transfer.push_back(*times.gpu_with_transfer < times.cpu);
      row.insert(row.end(), {with_unit(*times.gpu, "s"), with_unit(*times.gpu_with_transfer, "s"),
                             format("%.2f", times.cpu / *times.gpu),
                             format("%.2f", times.cpu / *times.gpu_with_transfer)});
    }
    table.add(row);
  }
  std::cout << table;
  if (gpu)
    std::cout << "\nThe GPU is faster from " << crossing(lengths, faster)
              << " on, and where the numbers are sent to it and back, from "
              << crossing(lengths, faster_with_transfer) << " on.\n";

  const Tensor x = gradus::randn({numbers}, gradus::kComplexDouble);
  const Tensor back = gradus::fft::ifft(gradus::fft::fft(x));
  std::cout << "\nThere and back on the CPU, the largest error is "
            << format("%.1e", (back - x).abs().max().item<double>()) << ".\n";
}

int main(int argc, char** argv) {
  int64_t numbers = 10000000;
  std::string device = "all";
  CLI::App app(
      "Times the Fourier transform of complex numbers of several lengths on the CPU and on\n"
      "the GPU, and says from which length on the GPU is faster. Without a GPU it times the\n"
      "CPU alone, and says why.");
  app.add_option("--numbers", numbers, "The longest length")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 28))
      ->capture_default_str();
  app.add_option("--device", device, "cpu leaves the GPU out")
      ->check(CLI::IsMember({"all", "cpu"}))
      ->capture_default_str();
  return run_program(app, argc, argv, [&] {
    gradus::manual_seed(1);
    std::string why_not;
    if (!gradus::cuda::is_available())
      why_not = gradus::cuda::why_unavailable();
    else if (gradus::cuda::getDeviceProperties(0).simulated)
      why_not = "the devices are simulated, and their times say nothing of a GPU";
    if (device == "all" && !why_not.empty()) std::cout << "The CPU alone: " << why_not << "\n";
    run(numbers, device == "all" && why_not.empty());
  });
}
