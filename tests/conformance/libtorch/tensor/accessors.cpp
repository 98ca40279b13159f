// Elements by accessor, by pointer, and over foreign memory.
#include <torch/torch.h>

#include <cstdio>
#include <vector>

int main() {
  torch::Tensor x = torch::arange(12, torch::kFloat).view({3, 4});
  auto a = x.accessor<float, 2>();
  float trace = 0;
  for (int64_t i = 0; i < a.size(0); i++) trace += a[i][i];
  a[2][3] = 100;
  std::printf("%g %g %ld %ld\n", trace, x[2][3].item<float>(), long(a.size(1)), long(a.stride(0)));

  const torch::Tensor columnwise = x.t();
  auto t = columnwise.accessor<float, 2>();
  for (int64_t i = 0; i < t.size(0); i++) {
    for (int64_t j = 0; j < t.size(1); j++) std::printf("%g ", t[i][j]);
    std::printf("\n");
  }

  float* p = x.data_ptr<float>();
  p[1] = -1;
  std::printf("%g %g\n", p[4], x.index({0, 1}).item<float>());
  const torch::Tensor row = x[1];
  std::printf("%g %td\n", *row.data_ptr<float>(), row.data_ptr<float>() - p);

  std::vector<double> memory = {1, 2, 3, 4, 5, 6};
  torch::Tensor over = torch::from_blob(memory.data(), {2, 3}, torch::kDouble);
  over.mul_(10);
  std::printf("%g %g %g\n", memory[0], memory[5], over.sum().item<double>());
  torch::Tensor columns = torch::from_blob(memory.data(), {3, 2}, {1, 3}, torch::kDouble);
  std::printf("%g %g %d\n", columns[0][1].item<double>(), columns[2][0].item<double>(),
              columns.is_contiguous());

  int freed = 0;
  {
    torch::Tensor owned = torch::from_blob(
        memory.data(), {6}, [&freed](void*) { ++freed; }, torch::TensorOptions(torch::kDouble));
    torch::Tensor view = owned.view({2, 3})[1];
    owned = torch::Tensor();
    std::printf("%d %g\n", freed, view.sum().item<double>());
  }
  std::printf("%d\n", freed);

  torch::Tensor n = torch::zeros({2, 2}, torch::kLong);
  auto m = n.accessor<int64_t, 2>();
  m[0][1] = 7;
  std::printf("%ld %d\n", long(n.sum().item<int64_t>()), n.is_contiguous());
  try {
    x.data_ptr<double>();
  } catch (const c10::Error&) {
    std::printf("another type\n");
  }
}
