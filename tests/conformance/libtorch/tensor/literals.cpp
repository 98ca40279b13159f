// torch::tensor from numbers, lists of any depth, and vectors; and how tensors print.
#include <torch/torch.h>

#include <iostream>

int main() {
  std::cout << torch::tensor(3) << "\n"
            << torch::tensor(2.5) << "\n"
            << torch::tensor(true) << "\n";
  std::cout << torch::tensor({1, 2, 3}) << "\n" << torch::tensor({1.5, 2.0}) << "\n";
  std::cout << torch::tensor({{1, 2}, {3, 4}, {5, 6}}) << "\n";
  std::cout << torch::tensor({{{1.0, 2.0}}, {{3.0, 4.0}}}) << "\n";
  std::cout << torch::tensor({true, false}) << "\n";
  std::cout << torch::tensor({1, 2}, torch::kDouble) << "\n";
  std::cout << torch::tensor({1.7, -2.7}, torch::dtype(torch::kInt)) << "\n";
  std::vector<int64_t> numbers = {4, 5, 6};
  std::vector<float> reals = {0.5f, 1e-3f, 2e4f};
  std::cout << torch::tensor(numbers) << "\n" << torch::tensor(reals) << "\n";
  std::cout << torch::tensor({2.0, 3.0}, torch::requires_grad()).requires_grad() << "\n";
  std::cout << torch::tensor(std::vector<double>{}).sizes() << "\n";
  std::cout << torch::zeros({0}) << "\n" << torch::zeros({2, 0}) << "\n";
  std::cout << torch::arange(24).view({2, 3, 4}) << "\n";
  std::cout << torch::tensor({1e10, 1.0, -0.25}) << "\n";
  std::cout << torch::tensor({0.0001, 123456.0}) << "\n";
  std::cout << torch::tensor({1.0f, NAN, INFINITY, -INFINITY}) << "\n";
  std::cout << torch::ones({2, 2}, torch::kHalf) << "\n";
  std::cout << torch::full({2, 2}, -3, torch::kInt) << "\n";
  std::cout << torch::tensor({{0.1, 0.22}, {100.0, 3.0}}) << "\n";
  std::cout << torch::linspace(0, 1, 30) << "\n";
  std::cout << torch::arange(40, torch::kFloat).view({2, 20}) << "\n";
}
