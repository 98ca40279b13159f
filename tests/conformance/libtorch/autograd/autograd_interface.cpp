// The autograd interface, as a test of it reads.
#include <torch/torch.h>

#include <iostream>

using namespace torch::autograd;

#define THROWS(what, ...)                      \
  try {                                        \
    __VA_ARGS__;                               \
    std::cout << what << ": taken\n";          \
  } catch (const c10::Error& e) {              \
    std::cout << what << ": c10::Error\n";     \
  } catch (const std::exception& e) {          \
    std::cout << what << ": std::exception\n"; \
  }

static torch::Tensor simple_fn(const Variable& x, const Variable& y) { return x + 2 * y + x * y; }

struct ScaledAdd : public Function<ScaledAdd> {
  static Variable forward(AutogradContext* ctx, Variable x, int64_t mul, Variable y, bool negate,
                          c10::optional<double> shift, std::string label,
                          std::vector<double> weights) {
    ctx->saved_data["mul"] = mul;
    ctx->saved_data["negate"] = negate;
    ctx->saved_data["label"] = label;
    ctx->saved_data["scale"] = 2.5;
    ctx->saved_data["shape"] = x.sizes().vec();
    ctx->save_for_backward({x, y});
    ctx->mark_non_differentiable({});
    auto out = x + mul * y + x * y + shift.value_or(0) + weights[0];
    return negate ? -out : out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto saved = ctx->get_saved_variables();
    const int64_t mul = ctx->saved_data["mul"].toInt();
    const double sign = ctx->saved_data["negate"].toBool() ? -1 : 1;
    std::cout << ctx->saved_data["label"].toStringRef() << ctx->saved_data["scale"].toDouble()
              << ctx->saved_data["shape"].toIntVector().size() << ctx->needs_input_grad(0)
              << ctx->needs_input_grad(1) << "\n";
    return {sign * grads[0] * (1 + saved[1]),
            Variable(),
            sign * grads[0] * (mul + saved[0]),
            Variable(),
            Variable(),
            Variable(),
            Variable()};
  }
};

struct TwoOut : Function<TwoOut> {
  static tensor_list forward(AutogradContext* ctx, const Variable& x) {
    ctx->set_materialize_grads(false);
    auto index = x.argsort();
    ctx->mark_non_differentiable({index});
    return {x * 2, x * 3, index};
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    std::cout << grads[0].defined() << grads[1].defined() << grads.size() << "\n";
    return {grads[1].defined() ? grads[1] * 3 : torch::zeros({2})};
  }
};

struct InPlace : Function<InPlace> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->mark_dirty({x});
    return x.mul_(3);
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 3}; }
};

int main() {
  auto x = torch::tensor({{1.0, 2.0}, {3.0, 4.0}}, torch::requires_grad());
  auto y = torch::full({2, 2}, 2.0, torch::requires_grad());
  auto res = simple_fn(x, y);
  backward({res.sum()}, {});
  std::cout << x.grad() << y.grad() << "\n";
  backward({simple_fn(x, y)}, {torch::ones({2, 2})}, {}, true);
  std::cout << x.grad().requires_grad() << x.grad()[0][0].item<float>() << "\n";
  x.mutable_grad().reset();
  auto once = grad({simple_fn(x, y)}, {x}, {torch::ones({2, 2})}, {}, true);
  auto twice = grad({once[0].pow(2).sum()}, {y}, {}, false, false, true);
  std::cout << once[0] << twice[0] << x.grad().defined() << "\n";
  auto unused = torch::ones({1}, torch::requires_grad());
  THROWS("unused", grad({simple_fn(x, y).sum()}, {unused}))
  std::cout
      << grad({simple_fn(x, y).sum()}, {x, unused}, {}, c10::nullopt, false, true)[1].defined()
      << "\n";
  THROWS("no grad needed", grad({torch::ones({1})}, {x}))
  THROWS("freed", auto z = (x * x).sum(); z.backward(); z.backward())
  THROWS("shape of gradient", (x * x).backward(torch::ones({3})))
  THROWS("no scalar", backward({x * x}, {}))

  auto out = ScaledAdd::apply(x, 2, y, true, 0.5, std::string("label "), std::vector<double>{1});
  std::cout << out << out.grad_fn()->name() << "\n";
  (out * 1).sum().backward();
  std::cout << x.grad() << "\n";
  auto both = TwoOut::apply(torch::tensor({2.0, 1.0}, torch::requires_grad()));
  std::cout << both.size() << both[2].requires_grad() << both[0].output_nr() << both[1].output_nr()
            << "\n";
  both[1].sum().backward();
  auto dirty = torch::ones({2}, torch::requires_grad()) * 1;
  auto same = InPlace::apply(dirty);
  std::cout << same.is_same(dirty) << dirty.grad_fn()->name().empty() << dirty._version() << "\n";

  auto fn = (x * y).relu().sum().grad_fn();
  while (fn) {
    std::cout << fn->name() << " " << fn->num_inputs() << fn->num_outputs() << "; ";
    fn = fn->num_outputs() ? fn->next_edge(0).function : nullptr;
  }
  std::cout << "\n";
  auto node = (x * 2).grad_fn();
  std::cout << node->next_edges().size() << (node->next_edge(0).function->name())
            << node->next_edge(0).input_nr << node->next_edge(0).is_valid() << Edge().is_valid()
            << (node->sequence_nr() > 0) << "\n";
  std::cout << "\n";

  std::cout << GradMode::is_enabled();
  {
    torch::NoGradGuard no_grad;
    std::cout << GradMode::is_enabled() << (x * 2).requires_grad();
    torch::AutoGradMode enable(true);
    std::cout << (x * 2).requires_grad();
  }
  {
    c10::InferenceMode guard;
    auto t = torch::ones({2});
    std::cout << t.is_inference() << torch::InferenceMode::is_enabled() << (x * 2).requires_grad();
  }
  GradMode::set_enabled(false);
  std::cout << (x * 2).requires_grad();
  GradMode::set_enabled(true);
  {
    AutoGradMode off(false);
    std::cout << (x * 2).requires_grad() << "\n";
  }

  auto leaf = torch::zeros({2, 2}, torch::requires_grad());
  THROWS("leaf in place", leaf += 1)
  THROWS("view of a leaf in place", leaf.view(-1)[0] = 1) {
    torch::NoGradGuard g;
    leaf += 1;
    leaf.view(-1)[0] = 5;
  }
  auto base = leaf * 1;
  auto part = base[0];
  part.mul_(torch::tensor({2.0, 3.0}));
  base.sum().backward();
  std::cout << leaf.grad() << base.grad_fn()->name() << " " << part.grad_fn()->name()
            << part.is_view() << part._base().is_same(base) << "\n";
  auto pieces = (leaf * 1).unbind();
  THROWS("output of unbind in place", pieces[0].mul_(2))
  auto saved = leaf.exp();
  saved.mul_(2);
  THROWS("saved and changed", saved.sum().backward())
  auto w = torch::ones({2}, torch::requires_grad());
  std::vector<int> order;
  auto v = w * 2;
  v.register_hook([&](Variable g) {
    order.push_back(1);
    return g * 2;
  });
  auto h = v.register_hook([&](Variable g) { order.push_back(2); });
  v.remove_hook(h);
  v.retain_grad();
  v.sum().backward({}, true);
  std::cout << w.grad() << v.grad() << v.retains_grad() << order.size() << w.is_leaf()
            << v.is_leaf() << "\n";
  auto detached = v.detach();
  detached.fill_(7);
  std::cout << v[0].item<float>() << detached.requires_grad() << v._version() << detached.is_leaf()
            << "\n";
  std::cout << w.data().is_same(w) << w.variable_data().requires_grad()
            << w.tensor_data().requires_grad() << "\n";
}
