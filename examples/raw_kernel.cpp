// Kernels of the user's own: a stencil in CUDA C++ that lets heat spread over a plate, and the
// largest change of a step as a reduction. Runs on a GPU, or on simulated devices.
#include <gradus/gradus.h>

#include <cstdlib>
#include <iostream>

using gradus::Tensor;

// Each inner point becomes the mean of its four neighbours.
const gradus::cuda::RawKernel spread(R"(
__global__ void spread(const float* from, float* to, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const int at = row * columns + column;
  const bool on_edge = row == 0 || column == 0 || row == rows - 1 || column == columns - 1;
  to[at] = on_edge ? from[at]
                   : (from[at - columns] + from[at + columns] + from[at - 1] + from[at + 1]) / 4;
})",
                                     "spread");

const gradus::cuda::ReductionKernel largest_change("T x, T y", "T z", "fabs(x - y)",
                                                   "a > b ? a : b", "z = a", "0", "largest_change");

int main() {
  if (!gradus::cuda::is_available()) {
    std::cout << "no GPU: " << gradus::cuda::why_unavailable() << '\n';
    return 0;
  }
  const int64_t rows = 24, columns = 40;
  Tensor plate = gradus::zeros({rows, columns}, gradus::kCUDA), next = plate.clone();
  plate.select(0, 0).fill_(100);  // the upper edge is hot
  int steps = 0;
  for (float change = 1; change > 0.05f; ++steps) {
    spread({(columns + 31) / 32, (rows + 7) / 8}, {32, 8}, {plate, next, rows, columns});
    if (steps % 50 == 0) change = largest_change({plate, next}).item<float>();
    std::swap(plate, next);
  }
  std::cout << "after " << steps << " steps, down the middle:";
  for (int64_t row = 0; row < rows; row += 4)
    std::cout << ' ' << static_cast<int>(plate[row][columns / 2].item<float>());
  std::cout << " degrees\n";
  const Tensor mean = (plate.slice(0, 0, rows - 2) + plate.slice(0, 2)).slice(1, 1, columns - 1) +
                      plate.slice(0, 1, rows - 1).slice(1, 0, columns - 2) +
                      plate.slice(0, 1, rows - 1).slice(1, 2);
  const Tensor inner = plate.slice(0, 1, rows - 1).slice(1, 1, columns - 1);
  const float error = (mean / 4 - inner).abs().max().item<float>();
  return error < 0.05f ? EXIT_SUCCESS : EXIT_FAILURE;
}
