// Reductions, order and counting.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::tensor({{3.0, -1.0, 2.0}, {0.5, 4.0, -2.0}}, torch::kDouble);
  auto i = torch::tensor({{3, 1, 2}, {3, 3, 0}});
  std::cout << x.sum() << x.sum(0) << x.sum(at::IntArrayRef({0, 1}), true)
            << x.sum(-1, true, torch::kFloat) << i.sum() << i.sum(torch::kDouble) << "\n";
  std::cout << x.mean() << x.mean(1) << x.mean({0}, true) << i.mean(torch::kFloat)
            << i.mean(0, false, torch::kDouble) << "\n";
  std::cout << x.prod() << x.prod(0) << i.prod(1, true) << (i > 1).sum() << (i > 1).all()
            << (i > 1).any(0) << i.all(1) << "\n";
  auto [values, indices] = x.max(1);
  std::cout << values << indices << x.max() << x.min() << i.max() << std::get<1>(i.min(0, true))
            << torch::max(x, -x) << "\n";
  std::tie(values, indices) = x.sort();
  std::cout << values << indices << std::get<0>(i.sort(0, true))
            << std::get<1>(i.sort(true, -1, true)) << x.argsort(0, true) << x.msort() << "\n";
  std::tie(values, indices) = torch::topk(x, 2);
  std::cout << values << indices << std::get<1>(x.topk(1, 0, false)) << std::get<0>(x.kthvalue(2))
            << std::get<0>(x.median(1)) << x.median() << x.nanmedian() << "\n";
  auto m = i.mode();
  std::cout << std::get<0>(m) << std::get<0>(x.cummax(1)) << std::get<1>(x.cummin(0)) << x.cumsum(1)
            << x.cumprod(0) << x.logcumsumexp(1) << i.cumsum(0).dtype() << "\n";
  std::cout << x.var() << x.std() << x.var(0) << x.std(1, false)
            << x.var(at::IntArrayRef({0, 1}), true, true)
            << x.var(1, /*unbiased=*/false, /*keepdim=*/true) << "\n";
  auto [variance, mean] = torch::var_mean(x, {1});
  auto [deviation, average] = torch::std_mean(x, true);
  std::cout << variance << mean << deviation << average << torch::std(x, 0, 0, true) << "\n";
  std::cout << x.norm() << x.norm(1) << x.norm(2, 1) << x.norm(2, {0}, true)
            << x.norm(3, torch::kFloat) << torch::norm(x, 2.5) << x.norm(0)
            << torch::linalg::vector_norm(x, 2, {1}, false, c10::nullopt)
            << torch::linalg::norm(x, c10::nullopt, c10::nullopt, false, c10::nullopt)
            << torch::linalg::matrix_norm(x, "fro", {0, 1}, false, c10::nullopt) << "\n";
  std::cout << x.argmax() << x.argmax(1) << x.argmin(0, true) << x.amax(1) << x.amin({0, 1})
            << std::get<0>(x.aminmax()) << std::get<1>(x.aminmax(0)) << "\n";
  std::cout << torch::logsumexp(x, 1) << torch::logsumexp(x, at::IntArrayRef({0, 1}), true)
            << x.nansum() << x.nanmean() << torch::count_nonzero(i)
            << i.count_nonzero(at::IntArrayRef({0})) << x.dist(x + 1) << x.trace() << "\n";
  std::cout << x.quantile(0.3) << x.quantile(torch::tensor({0.25, 0.75}, torch::kDouble), 1)
            << x.nanquantile(0.5, 0, true) << x.quantile(0.4, 1, false, "nearest") << "\n";
  auto [u, inverse, counts] = torch::_unique2(i, true, true, true);
  std::cout << u << inverse << counts
            << std::get<0>(torch::unique_consecutive(torch::tensor({1, 1, 2, 1})))
            << std::get<0>(torch::unique_dim(i.t(), 0)) << "\n";
  std::cout << torch::bincount(i.view(-1)) << i.view(-1).bincount({}, 6)
            << torch::bincount(i[0], torch::tensor({1.0, 0.5, 0.25})) << torch::histc(x, 4)
            << x.histc(3, -1, 3) << "\n";
  auto sorted = torch::tensor({1.0, 3.0, 5.0});
  std::cout << torch::searchsorted(sorted, torch::tensor({3.0, 6.0}))
            << torch::searchsorted(sorted, torch::tensor({3.0}), false, true)
            << torch::bucketize(torch::tensor({0.0, 4.0}), sorted) << torch::bucketize(3.0, sorted)
            << torch::isin(i, torch::tensor({3, 0})) << "\n";
  std::cout << torch::cov(x) << torch::corrcoef(x) << x.cov(0) << "\n";
  std::cout << x.diff() << x.diff(1, 0) << torch::gradient(torch::tensor({1.0, 4.0, 9.0}))[0]
            << torch::clamp(x, 0, 1) << torch::clip(x, c10::nullopt, 1) << torch::clamp_min(x, 0.3)
            << "\n";
  std::cout << torch::allclose(x, x + 1e-9) << torch::equal(x, x.clone())
            << torch::isclose(x, x + 1) << torch::isfinite(x / 0).any() << torch::isnan(x)
            << (x == x).all().item<bool>() << torch::is_nonzero(torch::tensor(1)) << "\n";
  auto nan = torch::tensor({std::nan(""), 1.0, 2.0});
  std::cout << nan.max().isnan() << nan.argmax() << nan.nansum() << std::get<0>(nan.sort())
            << nan.nan_to_num(7) << nan.nanmedian() << torch::fmax(nan, torch::zeros({3})) << "\n";
  auto e = torch::empty({0, 3});
  std::cout << e.sum() << e.prod() << e.sum(0) << e.any() << e.all() << e.mean().isnan()
            << e.cumsum(0).sizes() << e.var().isnan() << "\n";
}
