// Reductions over all elements and over dimensions.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto x = torch::tensor({{1.0, 5.0, -2.0}, {4.0, 0.0, 3.0}}, torch::kDouble);
  std::cout << x.sum() << x.sum(0) << x.sum({1}, true) << x.sum(torch::IntArrayRef({0, 1}))
            << x.prod() << x.prod(1) << "\n";
  std::cout << x.mean() << x.mean(0) << x.mean(torch::IntArrayRef({0, 1}), true) << x.var()
            << x.var(1) << x.std(0, false) << x.var({0}, /*unbiased=*/true, /*keepdim=*/true)
            << "\n";
  std::cout << x.max() << x.min() << x.amax(0) << x.amin({1}, true) << x.argmax() << x.argmax(1)
            << x.argmin(0, true) << "\n";
  auto [values, indices] = x.max(1);
  std::cout << values << indices << std::get<1>(torch::min(x, 0)) << "\n";
  std::cout << x.norm() << x.norm(1) << x.norm(3, 0) << x.norm(2, 1, true)
            << torch::norm(x, INFINITY) << torch::norm(x, 0) << "\n";
  std::cout << torch::logsumexp(x, 1) << torch::softmax(x, 0) << torch::log_softmax(x, 1) << "\n";
  std::cout << x.any() << (x > 0).all(1) << (x > 0).any(0) << torch::all(x)
            << torch::count_nonzero(x) << torch::count_nonzero(x, c10::optional<int64_t>(1))
            << "\n";
  std::cout << x.median() << std::get<0>(x.median(1)) << std::get<1>(x.median(1))
            << torch::nansum(x) << "\n";
  std::cout << x.cumsum(1) << x.cumprod(0) << std::get<0>(x.cummax(1)) << std::get<1>(x.cummax(1))
            << torch::logcumsumexp(x, 1) << torch::diff(x) << "\n";
  const auto [var, mean] = torch::var_mean(x, 1);
  std::cout << var << mean << std::get<0>(torch::aminmax(x)) << torch::dist(x, x + 1, 2) << "\n";

  const auto i = torch::tensor({{1, 2}, {3, 4}}, torch::kInt);
  std::cout << i.sum().dtype() << " " << i.prod().dtype() << " "
            << i.sum(0, false, torch::kInt).dtype() << " " << i.max().dtype() << " "
            << i.cumsum(0).dtype() << " " << (i > 1).sum() << "\n";
  const auto empty = torch::zeros({0, 3});
  std::cout << empty.sum() << empty.prod() << empty.mean().isnan() << empty.sum(0)
            << empty.sum(1).sizes() << "\n";
  int refused = 0;
  try {
    empty.max();
  } catch (const c10::Error&) {
    ++refused;
  }
  try {
    x.sum(2);
  } catch (const c10::Error&) {
    ++refused;
  }
  try {
    i.mean();
  } catch (const c10::Error&) {
    ++refused;
  }
  std::cout << refused << "\n";

  auto w = x.clone().requires_grad_();
  (w.prod(1).sum() + w.var() + w.logsumexp(0).sum() + w.norm()).backward();
  std::cout << w.grad() << "\n";
  w.mutable_grad().zero_();
  (w.amax(1).sum() + std::get<0>(w.min(0)).sum() * 2 + w.median() * 3 + w.cumsum(0).pow(2).sum())
      .backward();
  std::cout << w.grad() << "\n";
}
