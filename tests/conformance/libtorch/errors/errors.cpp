// What is refused, and that nothing has changed then.
#include <torch/torch.h>

#include <iostream>

template <class F>
void refused(const char* what, F f) {
  try {
    f();
    std::cout << what << ": taken\n";
  } catch (const std::exception& error) {
    std::cout << what << ": refused" << (std::string(error.what()).empty() ? " without a word" : "")
              << "\n";
  }
}

int main() {
  auto x = torch::ones({2, 3}), leaf = torch::ones({2}, torch::requires_grad());
  refused("matrix product of shapes that do not fit", [&] { x.mm(x); });
  refused("shapes that do not broadcast", [&] { x + torch::ones({2}); });
  refused("a dimension out of range", [&] { x.sum(2); });
  refused("a negative dimension out of range", [&] { x.size(-3); });
  refused("an index out of range", [&] { x[2]; });
  refused("the one element of six", [&] { x.item<float>(); });
  refused("a view of another number of elements", [&] { x.view({4}); });
  refused("a negative size", [&] { torch::zeros({2, -1}); });
  refused("a step of zero", [&] { torch::arange(0, 5, 0); });
  refused("bounds in the wrong order", [&] { torch::arange(5, 0, 1); });
  refused("backward of several elements", [&] { (leaf * 2).backward(); });
  refused("backward without a graph", [&] { x.sum().backward(); });
  refused("a second backward", [&] {
    auto y = (leaf * leaf).sum();
    y.backward();
    y.backward();
  });
  refused("a gradient of another shape", [&] { (leaf * 2).backward(torch::ones({3})); });
  refused("an unused input", [&] {
    auto other = torch::ones({1}, torch::requires_grad());
    torch::autograd::grad({leaf.sum()}, {other});
  });
  refused("an undefined tensor", [&] { torch::Tensor().sum(); });
  refused("clamp without bounds", [&] { x.clamp(); });
  refused("an unknown rounding", [&] { torch::div(x, x, "up"); });
  refused("a concatenation of nothing", [&] { torch::cat(std::vector<torch::Tensor>{}); });
  refused("an index that is no integer", [&] { x.index_select(0, torch::tensor({0.5})); });
  refused("targets out of range", [&] {
    torch::nn::functional::cross_entropy(x, torch::tensor({0, 3}));
  });
  refused("a Linear of other features", [&] { torch::nn::Linear(4, 2)(x); });
  refused("a module twice", [&] {
    torch::nn::Module m;
    m.register_parameter("w", torch::ones({1}));
    m.register_parameter("w", torch::ones({1}));
  });
  refused("permute with a dimension missing", [&] { x.permute({0}); });
  refused("integer division by zero", [&] { torch::tensor({1}).floor_divide(torch::tensor({0})); });
  std::cout << x << leaf.detach() << "\n";
  TORCH_CHECK(x.numel() == 6, "six elements, got ", x.numel());
  refused("TORCH_CHECK", [&] { TORCH_CHECK(x.numel() == 5, "five elements, got ", x.numel()); });
}
