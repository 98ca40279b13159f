// Trains the course's linear model on the course's two devices, and prints how many checks failed.
#include <cmath>
#include <cstdio>
#include <random>

#include "core/devices.h"
#include "gradus/cuda/sim/simulator.h"

namespace {

int failures = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

struct Result {
  std::vector<float> losses, parameters;
};

constexpr long kRows = 100, kIn = 3, kOut = 2;

Result trained(course::Device& device, const std::vector<float>& x, const std::vector<float>& y) {
  course::LinearModel model(device, std::vector<float>(kIn * kOut), std::vector<float>(kOut), 32, {0.1f, 0.5f, 0.0f});
  Result out;
  out.losses = course::train(device, model, {x.data(), y.data(), kRows}, 32, 60);
  out.parameters = model.parameters();
  return out;
}

}  // namespace

int main() {
  const std::vector<float> wanted = {1, -2, 3, 0.5f, 0, -1, 4, -5};  // w (2, 3), then b
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> x(kRows * kIn), y(kRows * kOut);
  for (float& each : x) each = uniform(random);
  for (long i = 0; i < kRows * kOut; ++i) {
    const long r = i / kOut, o = i % kOut;
    y[i] = wanted[kIn * kOut + o];
    for (long p = 0; p < kIn; ++p) y[i] += x[r * kIn + p] * wanted[o * kIn + p];
  }
  const Result host = trained(course::host_device(), x, y), gpu = trained(course::gpu_device(), x, y);
  check(host.losses.size() == 60 && gpu.losses.size() == 60, "a loss for each epoch");
  check(host.losses.back() < 1e-4f * host.losses.front(), "the loss becomes small");
  for (size_t i = 0; i < wanted.size(); ++i) check(std::fabs(host.parameters[i] - wanted[i]) < 0.02f, "the host finds the parameters");
  for (size_t i = 0; i < wanted.size(); ++i) check(std::fabs(host.parameters[i] - gpu.parameters[i]) < 1e-3f, "the GPU has the host's parameters");
  for (size_t i = 0; i < 60; ++i) check(std::fabs(host.losses[i] - gpu.losses[i]) < 1e-3f, "the GPU has the host's losses");
  for (const auto& each : gradus::cuda::sim::take_findings()) check(false, each.message.c_str());
  std::printf("\n%d failures\n", failures);
  return failures != 0;
}
