// Joining, splitting and rearranging.
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;

int main() {
  const auto a = torch::arange(6).view({2, 3}), b = a + 10;
  std::cout << torch::cat({a, b}) << "\n"
            << torch::cat({a, b}, 1) << "\n"
            << torch::stack({a, b}, -1) << "\n";
  std::cout << torch::cat({a, torch::ones({1, 3})}).dtype() << torch::hstack({a, b}).sizes()
            << torch::vstack({a, b}).sizes() << torch::dstack({a, b}).sizes() << "\n";
  const auto x = torch::arange(10);
  for (const auto& part : x.split(4)) std::cout << part << "\n";
  for (const auto& part : x.split_with_sizes({3, 7})) std::cout << part.sizes();
  for (const auto& part : torch::chunk(x, 3)) std::cout << part.sizes();
  for (const auto& part : torch::tensor_split(x, 3)) std::cout << part.sizes();
  for (const auto& part : a.unbind(1)) std::cout << part;
  std::cout << "\n" << a.roll(1, 1) << "\n" << torch::roll(a, {1, -1}, {0, 1}) << "\n";
  std::cout << a.flip({0}) << "\n" << torch::fliplr(a) << "\n" << torch::rot90(a) << "\n";
  std::cout << a.repeat({2, 2}) << "\n"
            << torch::tile(torch::tensor({1, 2}), {2}) << "\n"
            << torch::repeat_interleave(torch::tensor({1, 2}), 2) << "\n"
            << torch::tensor({5, 6}).repeat_interleave(torch::tensor({1, 3})) << "\n";
  std::cout << a.tril() << "\n"
            << a.triu(1) << "\n"
            << torch::block_diag({a, torch::tensor({{9}})}) << "\n";

  const auto y = torch::arange(6, torch::kFloat).view({1, 2, 3});
  std::cout << F::pad(y, F::PadFuncOptions({1, 2})) << "\n"
            << F::pad(y, F::PadFuncOptions({1, 1}).mode(torch::kReflect)) << "\n"
            << F::pad(y, F::PadFuncOptions({2, 0}).mode(torch::kReplicate)) << "\n"
            << F::pad(y, F::PadFuncOptions({1, 1}).mode(torch::kCircular)) << "\n"
            << torch::constant_pad_nd(y, {0, 1, 1, 0}, 7) << "\n"
            << F::pad(y, F::PadFuncOptions({-1, 0})) << "\n";

  auto w = torch::ones({2, 2}).requires_grad_();
  auto parts = torch::cat({w, w * 2}, 1).chunk(4, 1);
  (parts[0] * parts[3]).sum().backward();
  std::cout << w.grad() << "\n";
  try {
    torch::cat({a, torch::ones({2, 2})});
  } catch (const c10::Error&) {
    std::cout << "sizes differ\n";
  }
  try {
    torch::stack(std::vector<torch::Tensor>{});
  } catch (const c10::Error&) {
    std::cout << "an empty list\n";
  }
}
