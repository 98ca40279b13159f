// at::tensor beside torch::tensor, and what to(options) refuses.
#include <torch/torch.h>

#include <iostream>
#include <vector>

namespace {

void show(const torch::Tensor& x) {
  std::cout << x.scalar_type() << ' ' << x.sizes() << ' ' << x.sum().item<double>() << '\n';
}

}  // namespace

int main() {
  show(at::tensor(3));
  show(torch::tensor(3));
  show(at::tensor({1, 2}));
  show(torch::tensor({1, 2}));
  show(at::tensor({1.5, 2.5}));
  show(torch::tensor({1.5, 2.5}));
  show(at::tensor(1.5f));
  show(at::tensor(std::vector<int64_t>{1, 2, 3}));
  show(at::tensor(std::vector<double>{1, 2, 3}, at::kFloat));
  show(at::tensor({1, 2}, at::dtype(at::kDouble)));
  show(at::real(at::tensor(c10::complex<float>(1, 2)) + 0.5));
  show(at::imag(at::tensor(c10::complex<float>(1, 2), at::dtype(at::kComplexDouble))));
  try {
    torch::ones({2}).to(torch::TensorOptions().requires_grad(true));
    std::cout << "allowed\n";
  } catch (const c10::Error&) {
    std::cout << "refused\n";
  }
  show(torch::ones({2}).to(torch::TensorOptions().dtype(torch::kHalf).requires_grad(false)));
}
