// Functions that fewer programs use: histograms, windows, reductions by index, copies of views.
#include <torch/torch.h>

#include <iostream>

namespace {

template <class F>
void refused(const char* what, F f) {
  try {
    f();
    std::cout << what << " is taken\n";
  } catch (const c10::Error&) {
    std::cout << what << " is refused\n";
  }
}

void print(const std::vector<torch::Tensor>& tensors) {
  for (const auto& x : tensors) std::cout << x << "\n";
}

// Values and gradients of the first and the second order of f(x, y).
template <class F>
void derive(F f, torch::Tensor x, torch::Tensor y) {
  x = x.detach().clone().requires_grad_(), y = y.detach().clone().requires_grad_();
  auto out = f(x, y);
  auto first = torch::autograd::grad({(out * out).sum()}, {x, y}, {}, true, true);
  auto second =
      torch::autograd::grad({(first[0] * first[0]).sum() + (first[1] * first[1]).sum()}, {x, y});
  std::cout << out << "\n";
  print(first);
  print(second);
}

}  // namespace

int main() {
  const auto kDouble = torch::kDouble;
  const auto x = torch::arange(12, kDouble).reshape({3, 4}).sin();
  const auto y = torch::arange(12, kDouble).reshape({3, 4}).cos() + 2;
  const auto index = torch::tensor({2, 0, 2});

  for (const char* reduce : {"prod", "mean", "amax", "amin"}) {
    std::cout << reduce << "\n" << x.index_reduce(0, index, y, reduce) << "\n";
    std::cout << torch::index_reduce(x, 0, index, y, reduce, false) << "\n";
    derive([&](const torch::Tensor& a,
               const torch::Tensor& b) { return a.index_reduce(0, index, b, reduce); },
           x, y);
  }
  auto changed = x.clone();
  changed.index_reduce_(1, index, y.slice(1, 0, 3), "amax");
  std::cout << changed << "\n";
  refused("index_reduce sum", [&] { x.index_reduce(0, index, y, "sum"); });

  const auto src = torch::tensor({{10.0, 20.0}, {30.0, 40.0}}, kDouble);
  std::cout << torch::as_strided_scatter(x, src, {2, 2}, {1, 4}, 1) << "\n";
  // libtorch's gradient of the other elements is 0.
  const auto part = src.clone().requires_grad_();
  x.as_strided_scatter(part, {2, 2}, {4, 2}, 1).square().sum().backward();
  std::cout << part.grad() << "\n";
  changed = x.clone();
  changed.as_strided_({2, 2}, {1, 2}, 3);
  std::cout << changed << changed.storage_offset() << "\n";

  auto [hist, edges] = torch::histogram(x, 4);
  std::cout << hist << edges << "\n";
  std::tie(hist, edges) = x.histogram(4, std::vector<double>{-0.5, 1}, y, true);
  std::cout << hist << edges << "\n";
  std::tie(hist, edges) = x.histogram(torch::tensor({-1.0, 0.0, 0.25, 2.0}, kDouble), y);
  std::cout << hist << edges << "\n";

  for (const double p : {0., 1., 2., 3.}) std::cout << torch::pdist(x, p) << "\n";
  const auto rows = x.clone().requires_grad_();  // libtorch has no second derivative
  torch::pdist(rows).square().mul(torch::tensor({1, 2, 3})).sum().backward();
  std::cout << rows.grad() << "\n";
  std::cout << torch::norm_except_dim(x) << torch::norm_except_dim(x, 3, 1)
            << torch::norm_except_dim(x, 2, -1) << "\n";

  std::cout << torch::hann_window(6) << torch::hann_window(6, false, kDouble)
            << torch::hamming_window(5, kDouble) << torch::hamming_window(5, false, 0.6)
            << torch::hamming_window(5, true, 0.6, 0.3) << torch::blackman_window(6, false, kDouble)
            << torch::bartlett_window(7) << torch::bartlett_window(6, false)
            << torch::kaiser_window(6) << torch::kaiser_window(6, false, 3.5, kDouble) << "\n";
  std::cout << torch::hann_window(1, torch::requires_grad()).requires_grad() << "\n";
  refused("hann_window(-1)", [] { torch::hann_window(-1); });
  refused("hann_window(3, kLong)", [] { torch::hann_window(3, torch::kLong); });

  std::cout << torch::is_floating_point(x) << torch::is_signed(index) << torch::is_complex(x)
            << torch::is_conj(x) << torch::is_neg(x) << torch::is_inference(x) << torch::size(x, -1)
            << torch::stride(x, 0) << torch::fill(index, 3)
            << torch::fill(x, torch::tensor(1.5)).sum() << torch::is_distributed(x) << "\n";
  std::cout << x.resolve_conj().is_same(x) << torch::resolve_neg(x).is_same(x)
            << x.conj_physical().is_same(x) << x.is_pinned() << "\n";

  torch::manual_seed(1);
  const auto rate = torch::full({2, 3}, 4.0).requires_grad_();
  const auto events = torch::poisson(rate);
  events.sum().backward();
  std::cout << events.sizes() << events.dtype() << (events == events.floor()).all() << rate.grad()
            << torch::binomial(torch::full({2, 1}, 5.0), torch::tensor({0.0, 1.0})) << "\n";
  refused("poisson of -1", [] { torch::poisson(torch::tensor({-1.0})); });

  auto view = torch::alias(x);
  std::cout << view.is_set_to(x) << x[0].is_set_to(x[1]) << x.t().is_set_to(x)
            << view.is_alias_of(x) << "\n";
  auto shown = torch::zeros({1}, kDouble);
  shown.set_(x);
  std::cout << shown.is_set_to(x) << "\n";
  shown.set_();
  std::cout << shown.sizes() << "\n";

  std::cout << torch::special_log_softmax(x, 1) << torch::special_softmax(x, 0)
            << torch::special_logsumexp(x, 1, true) << torch::special_multigammaln(y, 2)
            << torch::special_polygamma(1, y) << torch::linalg_matmul(x, y.t())
            << torch::linalg_diagonal(x, 1) << "\n";

  const auto image = torch::arange(16).reshape({1, 4, 2, 2});
  std::cout << torch::pixel_shuffle(image, 2) << torch::pixel_unshuffle(image, 2)
            << torch::channel_shuffle(image, 2) << "\n";

  std::cout << torch::view_copy(x, {4, 3}) << torch::t_copy(x) << torch::expand_copy(x[0], {2, 4})
            << torch::permute_copy(x, {1, 0}) << torch::squeeze_copy(x.unsqueeze(0))
            << torch::squeeze_copy(x.unsqueeze(0), 0) << torch::unsqueeze_copy(x, 1)
            << torch::select_copy(x, 1, 2) << torch::slice_copy(x, 1, 1, 4, 2)
            << torch::transpose_copy(x, 0, 1) << torch::diagonal_copy(x)
            << torch::unfold_copy(x, 1, 2, 2) << torch::alias_copy(x)
            << torch::as_strided_copy(x, {2, 2}, {3, 1}) << torch::detach_copy(x) << "\n";
  print(torch::unbind_copy(x, 1));
  print(torch::split_copy(x, 3, 1));
  print(torch::split_with_sizes_copy(x, {1, 3}, 1));

  auto leaf = x.clone().requires_grad_();
  auto parts = torch::unsafe_split(leaf * 2, 3, 1);
  parts[0].mul_(parts[0].detach().clone());
  (parts[0].sum() + parts[1].sum()).backward();
  std::cout << leaf.grad() << "\n";
  print(x.unsafe_chunk(2, 1));
  print(x.unsafe_split_with_sizes({1, 3}, 1));

  const auto bits = torch::tensor({5, 6, 12});
  std::cout << bits.__and__(4) << bits.__or__(index) << bits.__xor__(index) << bits.__lshift__(2)
            << bits.__rshift__(index) << "\n";
  auto masked = bits.clone();
  masked.__iand__(13).__ior__(index).__ixor__(1).__ilshift__(1).__irshift__(2);
  std::cout << masked << "\n";

  auto grid = x.packed_accessor<double, 2, torch::DefaultPtrTraits, size_t>();
  auto grid32 = x.generic_packed_accessor<double, 2, torch::DefaultPtrTraits, int32_t>();
  std::cout << grid[1][2] << " " << grid32[2][3] << " " << grid.size(1) << "\n";
}
