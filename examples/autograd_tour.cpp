// A tour of automatic differentiation: gradients, higher derivatives, hooks, functions of one's
// own, Jacobians, and a way down a valley. Draws a function with its derivatives, and that way.
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

using namespace gradus;

// A function with a gradient of one's own: the sign, whose gradient passes through where |x| < 1.
struct StraightThrough : autograd::Function<StraightThrough> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x.sign();
  }
  static Tensors backward(autograd::AutogradContext* ctx, Tensors grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * (x.abs() < 1).to(x.scalar_type())};
  }
};

std::vector<double> numbers(const Tensor& x) {
  const Tensor values = x.detach().to(kDouble).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

void first_steps() {
  std::cout << "Gradients of sum(w^2 x): 2 w x and w^2\n";
  const Tensor w = tensor({1.0, 2.0}, requires_grad()), x = tensor({3.0, 4.0}, requires_grad());
  (w * w * x).sum().backward();
  std::cout << w.grad() << '\n' << x.grad() << "\n\n";

  std::cout << "A hook sees a gradient on its way, and may change it: here it is halved\n";
  const Tensor v = tensor(3.0, requires_grad());
  const Tensor square = v * v;
  square.register_hook([](const Tensor& grad) { return grad / 2; });
  square.backward();
  std::cout << v.grad() << "\n\n";

  std::cout << "Nothing is recorded under a NoGradGuard: requires_grad is ";
  const NoGradGuard no_grad;
  std::cout << (v * v).requires_grad() << "\n\n";
}

void functions() {
  const Tensor x = tensor({-2.0, -0.5, 0.5, 2.0}, requires_grad());
  StraightThrough::apply(x).sum().backward();
  std::cout << "A function of one's own: its gradient passes where |x| < 1\n" << x.grad() << "\n\n";

  const Tensor at = tensor({1.0, 2.0}, kDouble);
  const auto f = [](const Tensor& p) { return stack({p[0] * p[1], p[0].exp(), p[1].pow(3)}); };
  std::cout << "The Jacobian of (a b, e^a, b^3) at (1, 2)\n"
            << autograd::functional::jacobian(f, at) << '\n'
            << "and the Hessian of a^2 b + b^3\n"
            << autograd::functional::hessian(
                   [](const Tensor& p) { return p[0].pow(2) * p[1] + p[1].pow(3); }, at)
            << "\n\n";

  const Tensor doubles = rand({3}, kDouble).requires_grad_();
  const bool right = autograd::gradcheck(
      [](const Tensors& inputs) { return Tensors{inputs[0].sin() * inputs[0].exp()}; }, {doubles});
  std::cout << "gradcheck compares a gradient with finite differences: "
            << (right ? "they agree" : "they differ") << "\n\n";
}

// tanh and its derivatives: each is the gradient of the one before.
watch::Panel derivatives() {
  const Tensor x = linspace(-4, 4, 161).requires_grad_();
  Tensor y = x.tanh();
  watch::Panel panel{"tanh and its derivatives", {}};
  for (const char* const name : {"tanh", "first", "second", "third"}) {
    panel.curves.push_back({name, numbers(y), numbers(x)});
    y = autograd::grad({y.sum()}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  }
  return panel;
}

// From (-1.5, 2) down Rosenbrock's valley, (1 - a)^2 + 100 (b - a^2)^2, to its lowest point (1, 1).
watch::Panel valley(int64_t steps) {
  const Tensor p = tensor({-1.5, 2.0}, kDouble).requires_grad_();
  optim::Adam adam({p}, 0.02);
  watch::Curve way{"Adam", {}, {}}, bottom{"b = a^2", {}, {}};
  watch::ProgressBar bar(steps, watch::ProgressBarOptions().desc("valley"));
  for (int64_t step = 0; step < steps; ++step, bar.update()) {
    if (step % 10 == 0) {
      way.x.push_back(p[0].item<double>());
      way.y.push_back(p[1].item<double>());
    }
    adam.zero_grad();
    ((1 - p[0]).pow(2) + 100 * (p[1] - p[0].pow(2)).pow(2)).backward();
    adam.step();
  }
  bar.close();
  bottom.x = numbers(linspace(-1.5, 1.2, 55));
  for (const double a : bottom.x) bottom.y.push_back(a * a);
  std::cout << "After " << steps
            << " steps of Adam in Rosenbrock's valley: a = " << p[0].item<double>()
            << ", b = " << p[1].item<double>() << '\n';
  return {"down Rosenbrock's valley: b over a", {way, bottom}};
}

int main(int argc, char** argv) try {
  std::string out = "runs/autograd_tour";
  int64_t steps = 3000;
  CLI::App app("A tour of automatic differentiation.");
  app.option_defaults()->always_capture_default();
  app.add_option("--steps", steps, "Steps down the valley")->check(CLI::PositiveNumber);
  app.add_option("--out", out, "Folder for the picture");
  CLI11_PARSE(app, argc, argv);

  manual_seed(1);
  first_steps();
  functions();
  const std::string picture = out + "/autograd_tour.svg";
  watch::save_svg(
      watch::plot_curves("Automatic differentiation", "x, or a", {derivatives(), valley(steps)}),
      picture);
  std::cout << "picture: " << picture << '\n';
} catch (const std::exception& error) {
  std::cerr << "autograd_tour: " << error.what() << '\n';
  return 1;
}
