// Loops over several threads.
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <atomic>
#include <iostream>
#include <stdexcept>

int main() {
  std::vector<int64_t> seen(1000, 0);
  at::parallel_for(0, 1000, 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) seen[i] += i;
  });
  int64_t sum = 0;
  for (int64_t x : seen) sum += x;
  std::cout << "sum " << sum << "\n";

  at::set_num_threads(3);
  std::cout << "threads " << at::get_num_threads() << "\n";
  std::atomic<int64_t> parts = 0;
  at::parallel_for(0, 100, 1000, [&](int64_t begin, int64_t end) {
    parts += 1;
    std::cout << "one part from " << begin << " to " << end << ", thread " << at::get_thread_num()
              << "\n";
  });
  at::parallel_for(5, 5, 1, [&](int64_t, int64_t) { parts += 1; });
  std::cout << "parts " << parts << "\n";

  std::atomic<bool> whole = true;
  at::parallel_for(0, 10, 1, [&](int64_t, int64_t) {
    at::parallel_for(0, 10, 1, [&](int64_t begin, int64_t end) {
      whole = whole && begin == 0 && end == 10 && at::get_thread_num() == 0;
    });
  });
  std::cout << "inner loops are whole: " << whole << "\n";

  const double total = at::parallel_reduce(
      0, 1000, 10, 0.0,
      [&](int64_t begin, int64_t end, double identity) {
        for (int64_t i = begin; i < end; ++i) identity += static_cast<double>(i) / 4;
        return identity;
      },
      [](double a, double b) { return a + b; });
  std::cout << "reduced to " << total << "\n";

  const torch::Tensor x = torch::ones({1024, 1024});
  std::atomic<bool> same = true;
  at::parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    if (x.sum().item<float>() != 1024 * 1024) same = false;
  });
  std::cout << "operations within: " << same << "\n";

  for (int64_t grain : {1, 1000}) try {
      at::parallel_for(0, 10, grain, [](int64_t, int64_t) { throw std::runtime_error("mine"); });
      std::cout << "nothing thrown\n";
    } catch (const std::runtime_error& error) {
      std::cout << "caught " << error.what() << "\n";
    }
}
