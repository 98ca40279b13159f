// The same function in its forms: method, free, in place, into a given tensor.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::tensor({{1.0, -2.0}, {3.0, -4.0}});
  auto y = x.clone();
  std::cout << y.abs_() << y.sqrt_() << y.mul_(2) << y.add_(torch::ones({2}), 3) << y.clamp_(5, 6.5)
            << "\n";
  std::cout << y.neg_() << y.exp_() << y.log_().round_() << y.pow_(2) << y.fill_(7) << y.zero_()
            << "\n";
  y.copy_(x);
  std::cout << y.lerp_(torch::zeros({2, 2}), 0.5) << y.addcmul_(x, x, 0.1) << y.addcdiv_(x, x, 3)
            << y.fmod_(2) << y.clamp_min_(0.5).clamp_max_(1) << "\n";
  std::cout << y.eq_(1) << y.sub_(1).div_(2, "floor") << torch::relu_(y) << y.uniform_().sizes()
            << "\n";

  auto out = torch::empty({2, 2});
  const void* memory = out.data_ptr();
  torch::add_out(out, x, x);
  std::cout << out << (out.data_ptr() == memory) << "\n";
  torch::exp_out(out, x);
  torch::mul_out(out, out, x);
  torch::clamp_out(out, out, -1, 1);
  std::cout << out << "\n";
  auto small = torch::empty({0});
  torch::mm_out(small, x, x);
  std::cout << small << "\n"
            << torch::sum_out(small, x, {0}) << torch::cat_out(small, {x, x}, 1) << "\n";
  auto values = torch::empty({0}), indices = torch::empty({0}, torch::kLong);
  torch::max_out(values, indices, x, 1);
  std::cout << values << indices << "\n";
  torch::sort_out(values, indices, x, 1, /*descending=*/true);
  std::cout << values << indices << "\n";
  auto flags = torch::empty({0}, torch::kBool);
  torch::gt_out(flags, x, 0);
  std::cout << flags << "\n";
  std::cout << torch::arange_out(small, 3) << torch::zeros_out(small, {2}) << "\n";

  const auto refused = [](auto f) {
    try {
      f();
      std::cout << "taken\n";
    } catch (const c10::Error&) {
      std::cout << "refused\n";
    }
  };
  auto whole = torch::empty({0}, torch::kLong);
  refused([&] { torch::exp_out(whole, x); });
  auto leaf = torch::ones({2, 2}).requires_grad_();
  refused([&] { torch::exp_out(out, leaf); });
  refused([&] { leaf.mul_(2); });
  refused([&] { x.add_(torch::ones({3, 2, 2})); });
  refused([&] { torch::ones({2}, torch::kInt).sqrt_(); });
}
