// Higher derivatives, hooks on nodes, functional derivatives, anomaly mode, checkpoints of graphs.
#include <torch/torch.h>

#include <iostream>

using namespace torch::autograd;
using torch::Tensor;

// Central differences against backward.
static bool gradients_agree(const std::function<Tensor(Tensor)>& f, Tensor x) {
  x = x.to(torch::kDouble).detach().contiguous().set_requires_grad(true);
  const auto exact = grad({f(x).sum()}, {x})[0];
  auto numeric = torch::zeros(x.sizes(), torch::kDouble);
  torch::NoGradGuard guard;
  for (int64_t i = 0; i < x.numel(); ++i) {
    auto plus = x.detach().clone(), minus = x.detach().clone();
    plus.view(-1)[i] += 1e-6;
    minus.view(-1)[i] -= 1e-6;
    numeric.view(-1)[i] = ((f(plus) - f(minus)).sum() / 2e-6).item<double>();
  }
  return torch::allclose(exact, numeric, 1e-4, 1e-6);
}

struct Print : FunctionPostHook {
  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override {
    std::cout << "post " << outputs.size() << inputs.size() << " " << inputs[0].sum().item<double>()
              << "\n";
    return outputs;
  }
};
struct Scale : FunctionPreHook {
  variable_list operator()(const variable_list& grads) override { return {grads[0] * 10}; }
};

int main() {
  const auto m = torch::tensor({{0.3, -1.2, 2.0}, {0.7, 0.1, -0.4}}, torch::kDouble);
  const std::vector<std::pair<const char*, std::function<Tensor(Tensor)>>> functions = {
      {"softmax", [](Tensor x) { return x.softmax(1).pow(2); }},
      {"norm", [](Tensor x) { return x.norm(2, 1); }},
      {"logsumexp", [](Tensor x) { return x.logsumexp(0); }},
      {"prod", [](Tensor x) { return x.prod(1); }},
      {"max", [](Tensor x) { return std::get<0>(x.max(1)); }},
      {"cumprod", [](Tensor x) { return x.cumprod(1); }},
      {"sort", [](Tensor x) { return std::get<0>(x.sort(1)) * torch::arange(3); }},
      {"matmul", [](Tensor x) { return x.matmul(x.t()); }},
      {"index",
       [](Tensor x) {
         return x.index({torch::tensor({0, 0, 1}), torch::tensor({1, 2, 0})}).pow(2);
       }},
      {"where", [](Tensor x) { return torch::where(x > 0, x * x, x.exp()); }},
      {"std", [](Tensor x) { return x.std(1); }},
      {"unfold", [](Tensor x) { return x.unfold(1, 2, 1).prod(-1); }},
      {"gather",
       [](Tensor x) {
         return x.gather(1, torch::tensor({{2}, {2}})).pow(3);
       }},
      {"cat",
       [](Tensor x) {
         return torch::cat({x, x * 2}, 1).pow(2);
       }},
      {"einsum",
       [](Tensor x) {
         return torch::einsum("ij,kj->ik", {x, x});
       }},
      {"gelu", [](Tensor x) { return torch::gelu(x); }},
      {"pad",
       [](Tensor x) {
         return torch::constant_pad_nd(x, {1, -1}, 2).pow(2);
       }},
      {"clamp", [](Tensor x) { return x.clamp(-0.5, 0.5).pow(2); }},
      {"cdist", [](Tensor x) { return torch::cdist(x, x + 1); }},
      {"in place",
       [](Tensor x) {
         auto y = x * 1;
         y[0].mul_(x[1]);
         y.select(1, 0).exp_();
         return y;
       }},
      {"masked", [](Tensor x) { return x.masked_fill(x < 0, 0).masked_select(x > 0.2).pow(2); }},
      {"roll", [](Tensor x) { return x.roll(1, 1) * x; }},
      {"cross entropy",
       [](Tensor x) {
         return torch::nll_loss(x.log_softmax(1), torch::tensor({2, 0}));
       }},
      {"trapz", [](Tensor x) { return torch::trapz(x.pow(2)); }},
      {"lerp", [](Tensor x) { return x.lerp(x * x, 0.3); }},
      {"kron", [](Tensor x) { return torch::kron(x, x); }},
      {"cov", [](Tensor x) { return torch::cov(x); }}};
  for (const auto& [name, f] : functions) std::cout << name << " " << gradients_agree(f, m) << "\n";

  auto x = torch::tensor(0.7, torch::dtype(torch::kDouble).requires_grad(true));
  auto y = (x * x).sin() * x.exp();
  for (int order = 1; order <= 4; ++order) {
    y = grad({y}, {x}, {}, true, true)[0];
    std::cout << order << ": " << y.item<double>() << "\n";
  }
  auto v = torch::tensor({1.0, 2.0, 3.0}, torch::dtype(torch::kDouble).requires_grad(true));
  auto f = (v.pow(3)).sum() + v[0] * v[1] * v[2];
  auto g = grad({f}, {v}, {}, true, true)[0];
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < 3; ++i) rows.push_back(grad({g[i]}, {v}, {}, true)[0]);
  std::cout << torch::stack(rows) << "\n";
  auto direction = torch::tensor({1.0, 0.0, -1.0}, torch::kDouble);
  std::cout << grad({g}, {v}, {direction})[0] << "\n";
  // Forward-mode by two backward passes.
  auto dummy = torch::zeros({3}, torch::dtype(torch::kDouble).requires_grad(true));
  auto out = v.exp() * v.sum();
  auto vjp = grad({out}, {v}, {dummy}, true, true)[0];
  std::cout << grad({vjp}, {dummy}, {direction})[0] << "\n";

  auto w = torch::ones({2}, torch::requires_grad());
  auto z = w * 3;
  z.grad_fn()->add_post_hook(std::make_unique<Print>());
  z.grad_fn()->add_pre_hook(std::make_unique<Scale>());
  z.sum().backward();
  std::cout << w.grad() << "\n";
  {
    torch::autograd::DetectAnomalyGuard detect;
    auto bad = torch::zeros({1}, torch::requires_grad());
    try {
      (bad.sqrt() * 0).sum().backward();
      std::cout << "no anomaly\n";
    } catch (const std::exception& e) {
      std::cout << (std::string(e.what()).find("nan") != std::string::npos) << "\n";
    }
  }
  Tensor total = torch::zeros({}, torch::requires_grad());
  auto sum = total * 1;
  for (int i = 0; i < 20000; ++i) sum = sum + total;
  sum.backward();
  std::cout << total.grad().item<float>() << "\n";
  auto shared = torch::ones({2}, torch::requires_grad());
  for (int i = 0; i < 3; ++i) (shared * i).sum().backward();
  std::cout << shared.grad() << "\n";
  shared.grad().zero_();
  shared.mutable_grad() = torch::full({2}, 5.0);
  shared.sum().backward();
  std::cout << shared.grad() << "\n";
  auto expanded = torch::ones({1}, torch::requires_grad());
  (expanded.expand({4}) * torch::arange(4)).sum().backward();
  std::cout << expanded.grad() << "\n";
  auto mixed = torch::ones({2}, torch::dtype(torch::kFloat).requires_grad(true));
  (mixed.to(torch::kDouble) * 2 + mixed.to(torch::kHalf)).sum().backward();
  std::cout << mixed.grad() << mixed.grad().dtype() << "\n";
}
