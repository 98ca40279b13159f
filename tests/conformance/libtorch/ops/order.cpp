// Sorting, ranking, counting.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto x = torch::tensor({{3.0, 1.0, 2.0}, {-1.0, 5.0, 0.5}});
  auto [values, indices] = x.sort();
  std::cout << values << indices << std::get<0>(x.sort(0, true)) << x.argsort()
            << x.argsort(0, true) << "\n";
  const auto ties = torch::tensor({2, 1, 2, 1, 2});
  std::cout << std::get<1>(ties.sort(/*stable=*/true, 0, false))
            << std::get<1>(ties.sort(/*stable=*/true, 0, true)) << torch::msort(ties) << "\n";
  const auto top = x.topk(2);
  std::cout << std::get<0>(top) << std::get<1>(top) << std::get<0>(x.topk(1, 0, /*largest=*/false))
            << "\n";
  std::cout << std::get<0>(x.kthvalue(2)) << std::get<0>(torch::median(x, 1))
            << std::get<0>(torch::mode(ties)) << "\n";
  const auto unique = torch::_unique2(ties, true, true, true);
  std::cout << std::get<0>(unique) << std::get<1>(unique) << std::get<2>(unique) << "\n";
  const auto runs = torch::unique_consecutive(torch::tensor({1, 1, 2, 2, 1}), true, true);
  std::cout << std::get<0>(runs) << std::get<1>(runs) << std::get<2>(runs) << "\n";
  const auto rows = torch::unique_dim(torch::tensor({{1, 2}, {0, 1}, {1, 2}}), 0);
  std::cout << std::get<0>(rows) << "\n";
  std::cout << torch::bincount(ties)
            << torch::bincount(ties, torch::tensor({0.5, 1.0, 1.5, 2.0, 2.5}))
            << torch::bincount(ties, {}, 5) << "\n";
  const auto edges = torch::tensor({1.0, 3.0, 5.0});
  std::cout << torch::searchsorted(edges, torch::tensor({0.0, 1.0, 4.0, 9.0}))
            << torch::bucketize(x, edges) << torch::isin(ties, torch::tensor({2}))
            << torch::histc(x, 4, -1, 5) << "\n";
  std::cout << torch::quantile(x, 0.25) << torch::quantile(x, torch::tensor({0.5, 0.75}), 1)
            << "\n";

  auto w = x.clone().requires_grad_();
  (std::get<0>(w.sort(1)) * torch::tensor({1.0, 2.0, 3.0})).sum().backward();
  std::cout << w.grad() << "\n";
  w.mutable_grad().zero_();
  std::get<0>(w.topk(2, 1)).pow(2).sum().backward();
  std::cout << w.grad() << "\n";
  try {
    x.topk(4);
  } catch (const c10::Error&) {
    std::cout << "more than there are\n";
  }
  std::cout << torch::equal(x, x.clone()) << torch::allclose(x, x + 1e-7)
            << torch::isclose(x, x.abs()) << "\n";
}
