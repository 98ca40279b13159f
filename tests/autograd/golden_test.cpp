// Gradients against PyTorch's (tests/conformance/golden/make.py).
#include "tests/conformance/golden/golden.h"

namespace gradus::test {
namespace {

const Golden& golden() {
  static const Golden read(recorded("golden/autograd.txt"));
  return read;
}

using GoldenFunction = std::function<Tensor(const Tensors&)>;

const std::map<std::string, Tensor (*)(const Tensor&)> kUnary = {
#define UNARY(name, ...) {#name, [](const Tensor& x) { return gradus::name(x); }},
#include "gradus/tensor/table/elementwise.def"
};
const std::map<std::string, Tensor (*)(const Tensor&, const Tensor&)> kBinary = {
#define BINARY(name, ...) \
  {#name, [](const Tensor& x, const Tensor& y) { return gradus::name(x, y); }},
#include "gradus/tensor/table/elementwise.def"
};

Tensor unary(const Words& w) {
  return result_or_gradient(w[3], [&](const Tensors& x) { return kUnary.at(w[1])(x[0]); },
                            {golden()[w[2]]});
}

Tensor outer(const Words& w) {
  const Tensor x = golden()[w[2]];
  const auto f = [&](const Tensors& xs) { return kBinary.at(w[1])(xs[0].view({7, 1}), xs[1]); };
  return result_or_gradient(w[3], f, {x, x});
}

Tensor reduced(const std::string& op, const std::string& dims, const Tensor& x) {
  const std::vector<int64_t> dim = parse_dims(dims);
  if (op == "sum") return x.sum(dim);
  if (op == "mean") return x.mean(dim);
  if (op == "amax") return x.amax(dim);
  if (op == "amin") return x.amin(dim);
  if (dim.empty()) return op == "max" ? x.max() : x.min();
  return std::get<0>(op == "max" ? x.max(dim[0]) : x.min(dim[0]));
}
Tensor reduce(const Words& w) {
  return result_or_gradient(w[4], [&](const Tensors& x) { return reduced(w[1], w[3], x[0]); },
                            {golden()[w[2]]});
}

struct Composite {
  GoldenFunction f;
  Words inputs;
};
// The same expressions stand in make.py.
const std::map<std::string, Composite> kComposites = {
    {"sigmoid_product", {[](const Tensors& x) { return sigmoid(x[0] * x[1]); }, {"a", "b"}}},
    {"layer", {[](const Tensors& x) { return tanh(matmul(x[0], x[1])); }, {"a", "c"}}},
    {"normalised",
     {[](const Tensors& x) {
        return (x[0] - x[0].mean(1, true)) / (x[0].square().mean(1, true) + 1).sqrt();
      },
      {"a"}}},
    {"log_sum_exp", {[](const Tensors& x) { return x[0].exp().sum(0).log(); }, {"a"}}},
    {"log_softmax", {[](const Tensors& x) { return log_softmax(x[0], 1); }, {"a"}}},
    {"softmax", {[](const Tensors& x) { return softmax(x[0], 0); }, {"a"}}},
    {"views",
     {[](const Tensors& x) {
        const Tensor product = x[0].t().narrow(0, 1, 2) * x[1].expand({3, 4}).t().narrow(0, 0, 2);
        return product.reshape({3, 2});
      },
      {"a", "b"}}},
    {"gather",
     {[](const Tensors& x) { return x[0].gather(0, golden()["index"]) * x[0].narrow(0, 0, 2); },
      {"a"}}},
    {"scatter_add",
     {[](const Tensors& x) {
        return x[0].scatter_add(0, golden()["index"], x[1].expand({2, 4}));
      },
      {"a", "b"}}},
    {"reused", {[](const Tensors& x) { return x[0] * x[0].sum() / (x[0] + 5); }, {"a"}}},
    {"detached", {[](const Tensors& x) { return x[0] * x[0].detach(); }, {"a"}}},
    {"number_minus",
     {[](const Tensors& x) { return 2 - 3 / (x[0].square() + 1) + std::sqrt(2.0) * x[0]; }, {"a"}}},
};
Tensor composite(const Words& w) {
  const Composite& c = kComposites.at(w[1]);
  Tensors inputs;
  for (const std::string& name : c.inputs) inputs.push_back(golden()[name]);
  return result_or_gradient(w[2], c.f, inputs);
}

// d/dx sum((d sum(f(x)) / dx)^2).
Tensor twice(const Words& w) {
  const Tensor x = golden()["a"].clone().requires_grad_();
  const Tensor y = w[1] == "cube" ? x * x * x : w[1] == "tanh" ? tanh(x) : softmax(x, 1).square();
  const Tensor first = autograd::grad({y.sum()}, {x}, {}, true, /*create_graph=*/true)[0];
  return autograd::grad({first.square().sum()}, {x})[0];
}

const GoldenKinds kKinds = {
    {"unary", {unary, 1}},   {"unary lgamma", {unary, 16}},   {"outer", {outer, 1}},
    {"reduce", {reduce, 1}}, {"composite", {composite, 200}}, {"twice", {twice, 200}},
};

TEST(AutogradGolden, MatchesPyTorch) { check_golden(golden(), kKinds); }

}  // namespace
}  // namespace gradus::test
