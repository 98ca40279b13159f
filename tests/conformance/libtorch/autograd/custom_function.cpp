// Functions with a backward of their own.
#include <torch/torch.h>

#include <iostream>

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
using torch::autograd::Variable;
using torch::autograd::variable_list;

struct LinearFunction : public torch::autograd::Function<LinearFunction> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor input, torch::Tensor weight,
                               torch::Tensor bias = torch::Tensor()) {
    ctx->save_for_backward({input, weight, bias});
    auto output = input.mm(weight.t());
    if (bias.defined()) output += bias.unsqueeze(0).expand_as(output);
    return output;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grad_outputs) {
    auto saved = ctx->get_saved_variables();
    auto grad = grad_outputs[0];
    torch::Tensor grad_bias;
    if (saved[2].defined()) grad_bias = grad.sum(0);
    return {grad.mm(saved[1]), grad.t().mm(saved[0]), grad_bias};
  }
};

struct Power : public torch::autograd::Function<Power> {
  static Variable forward(AutogradContext* ctx, Variable x, int64_t exponent) {
    ctx->saved_data["exponent"] = exponent;
    ctx->save_for_backward({x});
    return x.pow(exponent);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const int64_t n = ctx->saved_data["exponent"].toInt();
    const auto x = ctx->get_saved_variables()[0];
    return {grads[0] * n * x.pow(n - 1), Variable()};
  }
};

struct Halves : public torch::autograd::Function<Halves> {
  static variable_list forward(AutogradContext* ctx, Variable x) {
    ctx->mark_non_differentiable({});
    return {x.slice(0, 0, 2) * 1, x.slice(0, 2) * 1};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {torch::cat({grads[0], grads[1] * 2})};
  }
};

int main() {
  auto x = torch::arange(6, torch::kDouble).view({2, 3}).requires_grad_();
  auto w = torch::linspace(0, 1, 12, torch::kDouble).view({4, 3}).requires_grad_();
  auto b = torch::ones({4}, torch::kDouble).requires_grad_();
  auto y = LinearFunction::apply(x, w, b);
  y.pow(2).sum().backward();
  std::cout << y.detach() << x.grad() << w.grad() << b.grad() << "\n";

  auto v = torch::tensor({1.0, 2.0}, torch::dtype(torch::kDouble).requires_grad(true));
  auto cube = Power::apply(v, 3);
  auto first = torch::autograd::grad({cube.sum()}, {v}, {}, true, /*create_graph=*/true)[0];
  first.sum().backward();
  std::cout << cube.detach() << first.detach() << v.grad() << "\n";

  auto u = torch::arange(4, torch::kDouble).requires_grad_();
  auto halves = Halves::apply(u);
  (halves[0].sum() + halves[1].pow(2).sum()).backward();
  std::cout << u.grad() << "\n";
}
