// Well-known computations timed on the CPU and on the GPU, in one table: what was computed, what
// was moved between the two, and what part of the time the moving took.
#include <gradus/gradus.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "program.h"
#include "table.h"

using gradus::Device, gradus::Tensor, gradus::Tensors;
using Step = std::function<Tensor(const Tensors&)>;

struct Case {
  std::string name;
  double operations;  // arithmetic operations, a cosine or an exponential counted as one
  double memory;      // bytes that the inputs and everything between them take
  std::function<Tensors()> inputs;  // on the CPU
  // Sets up what stays on the device, and returns the computation.
  std::function<Step(Device)> prepare;
};

Case product(int64_t n) {
  const double size = static_cast<double>(n);
  return {format("matrix product %d x %d", static_cast<int>(n), static_cast<int>(n)),
          2 * size * size * size, 3 * 4 * size * size,
          [n] {
            return Tensors{gradus::rand({n, n}), gradus::rand({n, n})};
          },
          [](Device) -> Step { return [](const Tensors& in) { return in[0].matmul(in[1]); }; }};
}

Case cos_sin(int64_t n) {
  return {"cos(x)^2 + sin(x)^2, 1e7 values", 5 * static_cast<double>(n),
          5 * 4 * static_cast<double>(n), [n] { return Tensors{gradus::randn({n})}; },
          [](Device) -> Step {
            return [](const Tensors& in) { return in[0].cos().square() + in[0].sin().square(); };
          }};
}

// gradus::selu in six steps. Klambauer and others, "Self-normalizing neural networks" (2017).
Tensor selu_in_steps(const Tensor& x) {
  constexpr double kAlpha = 1.6732632423543772, kScale = 1.0507009873554805;
  return (x.maximum(0) + (x.minimum(0).exp() - 1) * kAlpha) * kScale;
}

Case selu_case(int64_t n) {
  return {"SELU in steps, 1e6 values", 7 * static_cast<double>(n), 6 * 4 * static_cast<double>(n),
          [n] { return Tensors{gradus::randn({n})}; },
          [](Device) -> Step { return [](const Tensors& in) { return selu_in_steps(in[0]); }; }};
}

// Forward, mean squared error, backward and an SGD step.
Case training_step(int64_t batch) {
  static constexpr int64_t kIn = 100000, kOut = 10;
  const double weights = kIn * kOut, rows = static_cast<double>(batch);
  return {format("training step of Linear(100000, 10), %d rows", static_cast<int>(batch)),
          2 * 2 * rows * weights, 4 * (rows * kIn + 3 * weights),
          [batch] {
            return Tensors{gradus::rand({batch, kIn}), gradus::rand({batch, kOut})};
          },
          [](Device device) -> Step {
            gradus::nn::Linear model(kIn, kOut);
            model->to(device);
            auto optimizer = std::make_shared<gradus::optim::SGD>(model->parameters(),
                                                                  gradus::optim::SGDOptions(1e-5));
            return [model, optimizer](const Tensors& in) mutable {
              optimizer->zero_grad();
              const Tensor loss = gradus::nn::MSELoss()(model->forward(in[0]), in[1]);
              loss.backward();
              optimizer->step();
              return loss.detach();
            };
          }};
}

// Seconds of one run, the device waited for: the median of several runs after a first one, or the
// first one alone where that took long.
double seconds_of(Device device, const std::function<void()>& run) {
  const auto once = [&] {
    const auto start = std::chrono::steady_clock::now();
    run();
    if (device.is_cuda()) gradus::cuda::synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double first = once();
  if (first > 3) return first;
  std::vector<double> times;
  double sum = 0;
  while (times.size() < 5 || (times.size() < 50 && sum < 0.5)) sum += times.emplace_back(once());
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

Tensors moved(const Tensors& tensors, Device device) {
  Tensors out;
  for (const Tensor& tensor : tensors) out.push_back(tensor.to(device));
  return out;
}

// Bytes of memory that programs can still have, as Linux tells.
std::optional<double> free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (double kilobytes; file >> name >> kilobytes; std::getline(file, name))
    if (name == "MemAvailable:") return kilobytes * 1024;
  return std::nullopt;
}

struct Times {
  double cpu;
  std::optional<double> gpu, gpu_with_transfer;
  double bytes_moved;
};

Times measure(const Case& task, bool gpu) {
  const Tensors inputs = task.inputs();
  Times times{};
  const Step on_cpu = task.prepare(gradus::kCPU);
  Tensor result;
  times.cpu = seconds_of(gradus::kCPU, [&] { result = on_cpu(inputs); });
  for (const Tensor& input : inputs) times.bytes_moved += static_cast<double>(input.nbytes());
  times.bytes_moved += static_cast<double>(result.nbytes());
  if (!gpu) return times;
  const Device device(gradus::kCUDA, 0);
  const Step on_gpu = task.prepare(device);
  {
    const Tensors there = moved(inputs, device);
    times.gpu = seconds_of(device, [&] { on_gpu(there); });
  }
  times.gpu_with_transfer =
      seconds_of(device, [&] { result = on_gpu(moved(inputs, device)).to(gradus::kCPU); });
  return times;
}

Table::Row row_of(const Case& task, const Times& times) {
  Table::Row row{task.name, with_unit(task.operations, "op"), with_unit(times.bytes_moved, "B"),
                 with_unit(times.cpu, "s")};
  if (!times.gpu) return row;
  const double total = *times.gpu_with_transfer;
  row.push_back(with_unit(*times.gpu, "s"));
  row.push_back(with_unit(total, "s"));
  row.push_back(format("%.0f%%", 100 * std::max(0.0, 1 - *times.gpu / total)));
  row.push_back(format("%.1f", times.cpu / *times.gpu));
  row.push_back(format("%.1f", times.cpu / total));
  return row;
}

std::string why_no_gpu() {
  if (!gradus::cuda::is_available()) return gradus::cuda::why_unavailable();
  if (gradus::cuda::getDeviceProperties(0).simulated)
    return "the devices are simulated, and their times say nothing of a GPU";
  return "";
}

void run(bool quick, bool gpu) {
  const std::vector<Case> cases = {product(1000), product(quick ? 4000 : 16000), cos_sin(10000000),
                                   selu_case(1000000), training_step(quick ? 1000 : 10000)};
  Table::Row header{"case (float32)", "computed", "moved", "CPU"};
  if (gpu)
    header.insert(header.end(), {"GPU", "GPU with transfer", "of it transfer", "speed-up",
                                 "speed-up with transfer"});
  Table table(header);
  for (const Case& task : cases) {
    const std::optional<double> there = free_memory();
    if (there && *there < task.memory) {
      std::cout << task.name << ": skipped, it needs " << with_unit(task.memory, "B") << " and "
                << with_unit(*there, "B") << " are free; try --quick\n";
      continue;
    }
    std::cout << task.name << " ..." << std::endl;
    table.add(row_of(task, measure(task, gpu)));
  }
  std::cout << "\n"
            << table << R"(
computed: arithmetic operations, a cosine or an exponential counted as one. moved: what a GPU is
sent and what comes back. Times are medians of whole runs, the wait for the end included; the column
GPU finds the inputs on the GPU already.
)";
}

int main(int argc, char** argv) {
  bool quick = false;
  std::string device = "all";
  CLI::App app(
      "Times a small and a large matrix product, two elementwise formulas and a training\n"
      "step on the CPU and on the GPU, and prints one table. Without a GPU it times the\n"
      "CPU alone, and says why.");
  app.add_flag("--quick", quick,
               "Product of 4000 in place of 16000, step on 1000 rows in place of 10000: seconds\n"
               "and 0.5 GB in place of minutes and 5 GB");
  app.add_option("--device", device, "cpu leaves the GPU out")
      ->check(CLI::IsMember({"all", "cpu"}))
      ->capture_default_str();
  return run_program(app, argc, argv, [&] {
    gradus::manual_seed(1);
    const std::string why_not = why_no_gpu();
    const bool gpu = device == "all" && why_not.empty();
    if (device == "all" && !gpu) std::cout << "The CPU alone: " << why_not << "\n";
    run(quick, gpu);
  });
}
