// Inference tensors, and a Function of a list of tensors.
#include <torch/torch.h>

#include <iostream>

using namespace torch::autograd;
using torch::Tensor;

namespace {

void print(const char* what, const Tensor& x) {
  std::cout << what << ": inference " << x.is_inference() << ", view " << x.is_view()
            << ", requires grad " << x.requires_grad() << ", leaf " << x.is_leaf() << '\n';
}

template <class F>
void refused(const char* what, F f) {
  try {
    f();
    std::cout << what << ": allowed\n";
  } catch (const c10::Error&) {
    std::cout << what << ": refused\n";
  }
}

struct Sum : Function<Sum> {
  static Tensor forward(AutogradContext* ctx, at::TensorList list, double factor) {
    ctx->saved_data["factor"] = factor;
    ctx->save_for_backward(list.vec());
    return (list[0] + list[1] * list[1]) * factor;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const double factor = ctx->saved_data["factor"].toDouble();
    const auto list = ctx->get_saved_variables();
    const IndexRange all = {0, 2};
    std::cout << "needs " << ctx->needs_input_grad(0) << ctx->needs_input_grad(1)
              << ctx->needs_input_grad({all}) << '\n';
    return {grads[0] * factor, grads[0] * list[1] * (2 * factor), Tensor()};
  }
};

}  // namespace

int main() {
  Tensor made, view, of_normal;
  const Tensor normal = torch::ones({2, 3}, torch::requires_grad());
  {
    c10::InferenceMode guard;
    made = torch::ones({2, 3}).set_requires_grad(true);
    view = made.view({6});
    of_normal = normal.view({6});
    print("made", made);
    print("view", view);
    print("product", made * 2);
  }
  print("view of a normal tensor", of_normal);
  print("view outside", made.view({3, 2}));
  print("computed outside", made * made);
  print("sum with a normal one", made + normal);
  refused("product with a normal one", [&] { made* normal; });
  refused("in place outside", [&] { made.add_(1); });
  refused("view in place outside", [&] { view.add_(1); });
  refused("view of a normal one in place", [&] { of_normal.add_(1); });
  {
    torch::NoGradGuard guard;
    const Tensor again = of_normal.view({3, 2});
    torch::AutoGradMode on(true);
    refused("its view in place", [&] { again.add_(1); });
  }
  refused("requires grad outside", [&] {
    Tensor x;
    {
      c10::InferenceMode guard;
      x = torch::ones({1});
    }
    x.set_requires_grad(true);
  });
  made.clone().add_(1);

  const Tensor a = torch::full({2}, 3.0, torch::requires_grad()), b = torch::full({2}, 5.0);
  const variable_list list = {a, b};
  Sum::apply(at::TensorList(list), 2.0).sum().backward();
  std::cout << a.grad() << b.grad().defined() << '\n';
}
