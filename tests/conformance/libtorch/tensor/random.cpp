// Random tensors: shapes, ranges, and that seeds repeat them.
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::manual_seed(7);
  const auto a = torch::rand({100}), b = torch::randn({50, 2}, torch::kDouble);
  torch::manual_seed(7);
  std::cout << torch::equal(a, torch::rand({100})) << " " << b.sizes() << " " << b.dtype() << "\n";
  std::cout << (a >= 0).all().item<bool>() << (a < 1).all().item<bool>() << "\n";

  const auto n = torch::randint(5, {200}), m = torch::randint(-3, 3, {10, 10}, torch::kInt);
  std::cout << n.dtype() << " " << n.min().item<int64_t>() << " " << n.max().item<int64_t>()
            << "\n";
  std::cout << m.dtype() << " " << (m >= -3).all().item<bool>() << (m < 3).all().item<bool>()
            << "\n";

  const auto p = torch::randperm(20);
  std::cout << p.dtype() << " " << std::get<0>(p.sort()) << "\n";

  const auto coins = torch::bernoulli(torch::full({1000}, 0.25));
  const double share = coins.mean().item<double>();
  std::cout << (share > 0.15 && share < 0.35) << " " << torch::bernoulli(torch::tensor({0.0, 1.0}))
            << "\n";
  const auto drawn = torch::multinomial(torch::tensor({0.0, 1.0, 0.0}), 4, /*replacement=*/true);
  std::cout << drawn << "\n" << torch::multinomial(torch::ones({2, 5}), 3).sizes() << "\n";
  const auto all = torch::multinomial(torch::ones({5}), 5);
  std::cout << std::get<0>(all.sort()) << "\n";

  const auto normal = torch::normal(10.0, 0.1, {1000});
  std::cout << (normal.mean().item<double>() > 9.9) << (normal.std().item<double>() < 0.2) << "\n";
  std::cout << at::normal(torch::zeros({3}), torch::ones({3})).sizes() << "\n";
  auto u = torch::empty({100}).uniform_(2, 3);
  std::cout << (u >= 2).all().item<bool>() << (u <= 3).all().item<bool>() << "\n";
  std::cout << torch::empty({10}).normal_().sizes() << torch::zeros({4}).bernoulli_(1.0) << "\n";

  at::Generator one = at::detail::createCPUGenerator(42), two = at::detail::createCPUGenerator(42);
  const auto x = torch::randn({5}, one), y = torch::randn({5}, two), z = torch::randn({5}, one);
  std::cout << torch::equal(x, y) << torch::equal(x, z) << " " << one.current_seed() << "\n";
  one.set_current_seed(42);
  std::cout << torch::equal(x, torch::randn({5}, one)) << "\n";

  torch::nn::functional::dropout(x, torch::nn::functional::DropoutFuncOptions().p(0.5));
  const auto d = torch::dropout(torch::ones({1000}), 0.5, /*train=*/true);
  const double kept = (d != 0).to(torch::kDouble).mean().item<double>();
  std::cout << (kept > 0.4 && kept < 0.6) << " " << d.max().item<float>() << " "
            << torch::dropout(torch::ones({3}), 0.5, false) << "\n";
}
