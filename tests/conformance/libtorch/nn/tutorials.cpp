// Small programs of tutorials: regression, k-means, life, attention, a recurrent cell, Newton.
#include <torch/torch.h>

#include <cmath>
#include <iomanip>
#include <iostream>

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

static Tensor data(at::IntArrayRef shape, double scale = 1) {
  int64_t n = 1;
  for (auto s : shape) n *= s;
  return (torch::arange(n, torch::kFloat64) * 1.7).sin().mul(scale).reshape(shape);
}

static void logistic_regression() {
  auto x = data({40, 2});
  auto y = (x.index({Slice(), 0}) + 2 * x.index({Slice(), 1}) > 0).to(torch::kFloat64);
  auto w = torch::zeros({2, 1}, torch::dtype(torch::kFloat64).requires_grad(true));
  auto b = torch::zeros({1}, torch::TensorOptions().dtype(torch::kFloat64).requires_grad(true));
  double last = 0;
  for (int epoch = 0; epoch < 50; ++epoch) {
    auto p = torch::sigmoid(x.mm(w) + b).squeeze(1);
    auto loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean();
    loss.backward();
    torch::NoGradGuard guard;
    for (auto* t : {&w, &b}) {
      t->sub_(0.5 * t->grad());
      t->mutable_grad().zero_();
    }
    last = loss.item<double>();
  }
  auto correct = ((x.mm(w) + b).squeeze(1) > 0).eq(y > 0.5).sum().item<int64_t>();
  std::cout << "logistic " << std::fixed << std::setprecision(6) << last << " " << correct << "\n";
}

static void two_layers() {
  auto x = data({20, 3}).to(torch::kFloat), t = (x * x).sum(1, true);
  std::vector<Tensor> params = {data({3, 8}, 0.5).to(torch::kFloat), torch::zeros({8}),
                                data({8, 1}, 0.3).to(torch::kFloat), torch::zeros({1})};
  for (auto& p : params) p.set_requires_grad(true);
  for (int step = 0; step < 100; ++step) {
    auto h = (x.matmul(params[0]) + params[1]).tanh();
    auto loss = torch::mse_loss(h.matmul(params[2]) + params[3], t);
    auto grads = torch::autograd::grad({loss}, params);
    for (size_t i = 0; i < params.size(); ++i) params[i].data().add_(grads[i], -0.05);
    if (step % 33 == 0) std::cout << "mlp " << loss.item().toFloat() << "\n";
  }
}

static void k_means() {
  auto points = torch::cat({data({10, 2}, 0.3), data({10, 2}, 0.3) + 3});
  auto centers = points.index({torch::tensor({0, 1})}).clone();
  Tensor assigned;
  for (int i = 0; i < 5; ++i) {
    assigned = std::get<1>(torch::cdist(points, centers).min(1));
    for (int64_t k = 0; k < 2; ++k) centers[k] = points.index({assigned == k}).mean(0);
  }
  std::cout << "k-means " << assigned.bincount() << centers << "\n";
}

static void life() {
  auto board = torch::zeros({6, 6}, torch::kInt);
  board.index_put_({torch::tensor({0, 1, 2, 2, 2}), torch::tensor({1, 2, 0, 1, 2})}, 1);
  for (int generation = 0; generation < 4; ++generation) {
    auto neighbours = torch::zeros_like(board);
    for (int dy : {-1, 0, 1})
      for (int dx : {-1, 0, 1})
        if (dy || dx) neighbours += board.roll({dy, dx}, {0, 1});
    board = ((neighbours == 3) | ((board == 1) & (neighbours == 2))).to(board.dtype());
  }
  std::cout << board << "\n";
}

static void attention() {
  auto q = data({2, 4, 8}).set_requires_grad(true), k = data({2, 4, 8}, 0.7),
       v = data({2, 4, 8}, 0.2);
  auto scores = torch::bmm(q, k.transpose(1, 2)) / std::sqrt(8.);
  auto mask = torch::ones({4, 4}, torch::kBool).triu(1);
  auto weights = scores.masked_fill(mask, -std::numeric_limits<double>::infinity()).softmax(-1);
  auto out = weights.bmm(v);
  out.pow(2).sum().backward();
  std::cout << "attention " << out.sum().item<double>() << " "
            << q.grad().abs().sum().item<double>() << " " << weights[0] << "\n";
}

static void recurrent() {
  auto w = data({4, 4}, 0.4).requires_grad_(), u = data({3, 4}, 0.4).requires_grad_();
  auto h = torch::zeros({2, 4}, torch::kDouble);
  for (const auto& x : data({5, 2, 3}).unbind()) h = torch::tanh(torch::addmm(x.mm(u), h, w));
  h.sum().backward();
  std::cout << "recurrent " << h.sum().item<double>() << " " << w.grad().norm().item<double>()
            << " " << u.grad().norm().item<double>() << "\n";
}

static void newton() {
  auto x = torch::tensor({-1.2, 1.0}, torch::dtype(torch::kDouble).requires_grad(true));
  for (int i = 0; i < 8; ++i) {
    auto f = (1 - x[0]).pow(2) + 100 * (x[1] - x[0] * x[0]).pow(2);
    auto g = torch::autograd::grad({f}, {x}, {}, true, true)[0];
    auto h0 = torch::autograd::grad({g[0]}, {x}, {}, true)[0];
    auto h1 = torch::autograd::grad({g[1]}, {x}, {}, true)[0];
    auto det = h0[0] * h1[1] - h0[1] * h1[0];
    auto step = torch::stack({h1[1] * g[0] - h0[1] * g[1], h0[0] * g[1] - h1[0] * g[0]}) / det;
    x = (x - step).detach().requires_grad_(true);
  }
  std::cout << "newton " << x[0].item<double>() << " " << x[1].item<double>() << "\n";
}

static void power_iteration() {
  auto a = torch::tensor({{4.0, 1.0, 0.0}, {1.0, 3.0, 1.0}, {0.0, 1.0, 2.0}});
  auto v = torch::ones({3}) / std::sqrt(3.f);
  for (int i = 0; i < 100; ++i) v = a.mv(v) / a.mv(v).norm();
  std::cout << "eigenvalue " << v.dot(a.mv(v)).item<float>() << "\n";
}

static void integral() {
  auto x = torch::linspace(0, M_PI, 1001, torch::kDouble);
  std::cout << "integral " << torch::trapz(x.sin(), x).item<double>() << " "
            << torch::trapezoid(x.cos().pow(2), x).item<double>() << " "
            << (x.diff() * x.slice(0, 1).sin()).sum().item<double>() << " "
            << torch::cumulative_trapezoid(x, x)[-1].item<double>() << "\n";
}

int main() {
  logistic_regression();
  two_layers();
  k_means();
  life();
  attention();
  recurrent();
  newton();
  power_iteration();
  integral();
}
