// Reverses an array on a simulated device, and says what the simulator thinks of the kernel.
#include <cuda_runtime.h>
#include <gradus/cuda/sim/simulator.h>

#include <iostream>

#include "reverse.h"

int main(int count, char**) {
  int numbers[kCount] = {0, 1, 2, 3, 4, 5, 6, 7}, *data = nullptr;
  cudaMalloc(&data, sizeof numbers);
  cudaMemcpy(data, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  reverse_on_device(data, count > 1);
  for (const auto& finding : gradus::cuda::sim::take_findings()) {
    std::cout << name_of(finding.kind) << " at";
    const char* separator = " ";
    for (const auto& side : finding.sides) {
      if (side.frames.size() != 1) std::cout << " (frames of the simulator)";
      std::cout << separator << "line " << side.frames[0].line;
      separator = " and ";
    }
    const auto& frame = finding.sides[0].frames[0];
    std::cout << " of " << frame.file.substr(frame.file.rfind('/') + 1) << ", in " << frame.function
              << '\n';
  }
  cudaMemcpy(numbers, data, sizeof numbers, cudaMemcpyDeviceToHost);
  cudaFree(data);
  if (count > 1) return 0;
  for (int i = 0; i < kCount; ++i) std::cout << numbers[i] << (i + 1 < kCount ? ' ' : '\n');
}
