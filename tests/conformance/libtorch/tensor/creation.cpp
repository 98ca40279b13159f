// Tensors made from numbers and shapes.
#include <torch/torch.h>

#include <iostream>

int main() {
  std::cout << torch::zeros({2, 3}) << "\n" << torch::ones(3, torch::kInt) << "\n";
  std::cout << torch::full({2, 2}, 1.5) << "\n"
            << torch::full({2}, 7) << "\n"
            << torch::eye(3) << "\n";
  std::cout << torch::eye(2, 4, torch::kLong) << "\n";
  std::cout << torch::arange(5) << "\n"
            << torch::arange(1, 4) << "\n"
            << torch::arange(1.0, 2.5, 0.5) << "\n"
            << torch::arange(10, 0, -3) << "\n";
  std::cout << torch::linspace(0, 1, 5) << "\n"
            << torch::logspace(0, 3, 4) << "\n"
            << torch::logspace(0, 4, 5, 2.0) << "\n";
  std::cout << torch::empty({4, 0}).numel() << " " << torch::empty({2, 3}, torch::kByte).sizes()
            << "\n";

  const auto like = torch::ones({2, 2}, torch::kDouble);
  std::cout << torch::zeros_like(like) << "\n"
            << torch::ones_like(like, torch::kInt) << "\n"
            << torch::full_like(like, 3) << "\n"
            << torch::empty_like(like).sizes() << "\n"
            << torch::rand_like(like).dtype() << "\n";
  std::cout << like.new_zeros({2}) << "\n"
            << like.new_ones({1, 2}) << "\n"
            << like.new_full({2}, 4, torch::kLong) << "\n"
            << like.new_empty({3, 1}).sizes() << "\n";

  std::cout << torch::tril_indices(3, 3) << "\n" << torch::triu_indices(2, 3, 1) << "\n";
  std::cout << torch::one_hot(torch::tensor({0, 2, 1})) << "\n";
  std::cout << torch::nn::functional::one_hot(torch::tensor({{1}, {0}}), 3) << "\n";

  const auto grid = torch::meshgrid({torch::arange(2), torch::arange(3)}, "ij");
  std::cout << grid[0] << "\n" << grid[1] << "\n";
  const auto xy = torch::meshgrid({torch::arange(2), torch::arange(3)}, "xy");
  std::cout << xy[0] << "\n" << xy[1] << "\n";
  std::cout << torch::cartesian_prod({torch::tensor({1, 2}), torch::tensor({3, 4})}) << "\n";
}
