// vmap: results of batches, gradients of and in them, levels in levels, random numbers, errors.
#include "gradus/autograd/tools/functional.h"
#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/level.h"
#include "tests/support.h"

namespace gradus {
namespace {

using namespace autograd::functional;

// The rows of f(x), one after the other.
template <class F>
Tensor looped(F f, const Tensor& x) {
  Tensors rows;
  for (int64_t i = 0; i < x.size(0); ++i) rows.push_back(f(x[i]));
  return stack(rows);
}

template <class F>
void expect_as_loop(F f, const Tensor& x, double tolerance = 1e-12) {
  const Tensor got = vmap(f)(x), expected = looped(f, x);
  EXPECT_EQ(got.sizes(), expected.sizes());
  expect_values(got, to_vector(expected), tolerance);
}

// The warnings of this thread while it lives.
class Warnings : WarningHandler {
 public:
  Warnings() : before_(Warning::get_warning_handler()) { Warning::set_warning_handler(this); }
  ~Warnings() override { Warning::set_warning_handler(before_); }
  const std::string& text() const { return text_; }

 private:
  void process(const SourceLocation&, const std::string& message, bool) override {
    text_ += message + "\n";
  }
  WarningHandler* before_;
  std::string text_;
};

TEST(Vmap, MapsADimensionAndStacksTheResults) {
  const Tensor x = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  const auto square = [](const Tensor& row) { return row * row; };
  expect_values(vmap(square)(x), {1, 4, 9, 16, 25, 36});
  EXPECT_EQ(vmap(square, 1)(x).sizes(), IntArrayRef({3, 2}));
  expect_values(vmap(square, 1)(x), {1, 16, 4, 25, 9, 36});
  expect_values(vmap(square, 0, -1)(x), {1, 16, 4, 25, 9, 36});
  expect_values(vmap([](const Tensor& row) { return row.sum(); })(x), {6, 15});
}

TEST(Vmap, CallsItsFunctionOnceWithTheShapeOfASample) {
  int calls = 0;
  const auto f = [&](const Tensor& row) {
    ++calls;
    EXPECT_EQ(row.sizes(), IntArrayRef({3}));
    EXPECT_TRUE(row.is_cpu());
    return row.exp().sum() + row.max();
  };
  vmap(f)(rand({5, 3}));
  EXPECT_EQ(calls, 1);
}

TEST(Vmap, TakesSeveralArgumentsAndReturnsSeveralResults) {
  const Tensor a = rand({3, 4}, kDouble), b = rand({4, 2}, kDouble), w = rand({4}, kDouble);
  const auto f = [](const Tensor& x, const Tensor& y, const Tensor& shared) {
    return Tensors{(x * shared).sum() + y, shared.outer(y), shared.sum()};
  };
  // a's samples are its columns.
  const Tensors got =
      vmap(f, {1, 0, std::nullopt}, {0, -1, std::nullopt})(a, b, tensor({1.0, 2.0, 3.0}, kDouble));
  for (int64_t i = 0; i < 4; ++i) {
    const Tensors one = f(a.select(1, i), b[i], tensor({1.0, 2.0, 3.0}, kDouble));
    expect_values(got[0][i], to_vector(one[0]), 1e-12);
    expect_values(got[1].select(-1, i), to_vector(one[1]), 1e-12);
  }
  expect_values(got[2], {6});
  // A function of a list.
  const auto g = [](const Tensors& list) { return list[0] * list[1].sum(); };
  expect_values(vmap(g)(Tensors{b, b}), to_vector(b * b.sum(1, true)), 1e-12);
}

TEST(Vmap, MakesOneProductOfAMatrixTimesVectors) {
  const Tensor w = rand({15, 10}, kDouble), x = rand({7, 10}, kDouble);
  expect_as_loop([&](const Tensor& v) { return matmul(w, v); }, x);
  expect_as_loop([&](const Tensor& v) { return matmul(v, w.t()); }, x);
  expect_as_loop([&](const Tensor& v) { return outer(v, v).matmul(w.t()); }, x);
  expect_as_loop([&](const Tensor& v) { return w.matmul(outer(v, v)); }, x);
  expect_as_loop([&](const Tensor& v) { return v.dot(v); }, x);
  expect_as_loop([&](const Tensor& v) { return linear(v, w, w.select(1, 0)); }, x);
}

TEST(Vmap, ChangesInPlaceWhatItMakesAndWhatItIsGiven) {
  const Tensor x = rand({3, 4}, kDouble);
  expect_as_loop(
      [](const Tensor& v) {
        Tensor total = zeros({4}, kDouble);  // no sample's own, until this
        total.add_(v);
        total[1].mul_(v.sum());
        total.slice(0, 2).copy_(v.slice(0, 0, 2));
        return total;
      },
      x);
  Tensor given = x.clone();
  vmap([](const Tensor& v) { return v.mul_(2).sum(); })(given);
  expect_values(given, to_vector(x * 2));
  EXPECT_EQ(given._version(), 1u);
  const Tensor shared = zeros({4}, kDouble);
  expect_error<Error>([&] { vmap([&](const Tensor& v) { return shared.add_(v); })(x); },
                      "inplace arithmetic is not possible");
  expect_error<Error>(
      [&] {
        vmap([](const Tensor& v, const Tensor& s) { return s.add_(v); }, {0, std::nullopt})(x,
                                                                                            shared);
      },
      "inplace arithmetic is not possible");
  expect_values(shared, {0, 0, 0, 0});
}

TEST(Vmap, StandsInVmap) {
  const Tensor x = rand({2, 3, 4}, kDouble), y = rand({5, 4}, kDouble);
  expect_values(vmap(vmap([](const Tensor& v) { return v.cumsum(0) * v.sum(); }))(x),
                to_vector(x.cumsum(2) * x.sum(2, true)), 1e-12);
  // All pairs: x of the outer level, y of the inner one.
  const auto pairs = vmap([&](const Tensor& a) {
    return vmap([&](const Tensor& b) { return a.matmul(b) + a.sum(); })(y);
  });
  expect_values(pairs(x),
                to_vector((matmul(x, y.t()).transpose(1, 2) + x.sum({1, 2}).view({2, 1, 1}))),
                1e-12);
  EXPECT_EQ(pairs(x).sizes(), IntArrayRef({2, 5, 3}));
}

TEST(Vmap, IsDifferentiable) {
  const auto f = [](const Tensors& in) {
    const auto row = [&](const Tensor& v, const Tensor& shared) {
      return (v.sin() * v.sum() * in[1]).matmul(shared) + shared.pow(2).sum();
    };
    return Tensors{vmap(row, {1, std::nullopt}, 1)(in[0], in[2])};
  };
  const Tensors in{rand({2, 3}, kDouble).requires_grad_(), rand({2}, kDouble).requires_grad_(),
                   rand({2, 2}, kDouble).requires_grad_()};
  EXPECT_TRUE(autograd::gradcheck(f, in));
  EXPECT_TRUE(autograd::gradgradcheck(f, in));
}

TEST(Vmap, IsDifferentiableInLevels) {
  const auto f = [](const Tensors& in) {
    return Tensors{vmap([&](const Tensor& a) {
      return vmap([&](const Tensor& b) { return (a * b * in[2]).exp().sum() * a; })(in[1]);
    })(in[0])};
  };
  const Tensors in{rand({2, 3}, kDouble).requires_grad_(), rand({2, 3}, kDouble).requires_grad_(),
                   rand({3}, kDouble).requires_grad_()};
  EXPECT_TRUE(autograd::gradcheck(f, in));
  EXPECT_TRUE(autograd::gradgradcheck(f, in));
}

TEST(Vmap, HoldsGradientsJacobiansAndHessians) {
  const Tensor x = rand({3, 2}, kDouble), w = rand({2, 2}, kDouble);
  const auto f = [&](const Tensor& v) { return matmul(w, v.pow(3)); };
  expect_as_loop([&](const Tensor& v) { return jacobian(f, v); }, x);
  expect_as_loop(
      [&](const Tensor& v) { return hessian([&](const Tensor& u) { return f(u).sum(); }, v); }, x);
  // A graph through gradients that are taken within.
  const auto slope = [&](const Tensors& in) {
    return Tensors{vmap([&](const Tensor& v) {
      return jacobian([&](const Tensor& u) { return in[1].matmul(u.exp()); }, v, true);
    })(in[0])};
  };
  EXPECT_TRUE(
      autograd::gradcheck(slope, {x.detach().requires_grad_(), w.detach().requires_grad_()}));
  // And vmap within them.
  const auto rows = [](const Tensor& u) {
    return vmap([](const Tensor& v) { return v.pow(3).sum(); })(u);
  };
  EXPECT_EQ(jacobian(rows, x).sizes(), IntArrayRef({3, 3, 2}));
  expect_values(hessian([&](const Tensor& u) { return rows(u).sum(); }, x).view({6, 6}).diagonal(),
                to_vector(x.view({6}) * 6), 1e-12);
}

TEST(Vmap, GivesGradientsOfEachSample) {
  nn::Sequential model(nn::Linear(4, 5), nn::ReLU(), nn::LayerNorm(nn::LayerNormOptions({5})),
                       nn::Linear(5, 3));
  const Tensor x = rand({6, 4}), y = randint(0, 3, {6});
  const auto loss = [](const Tensors& in) {
    const Tensor hidden = layer_norm(linear(in[2], in[0], in[1]).relu(), {5});
    return nn::functional::cross_entropy(linear(hidden, in[4], in[5]).unsqueeze(0),
                                         in[3].unsqueeze(0));
  };
  const auto own = [&](const Tensors& in) {
    return autograd::grad({loss(in)}, {in[0], in[1], in[4], in[5]});
  };
  const Tensors weights = model->parameters();
  const Tensors inputs{weights[0], weights[1], x, y, weights[4], weights[5]};
  const Tensors got =
      vmap(own, {std::nullopt, std::nullopt, 0, 0, std::nullopt, std::nullopt})(inputs);
  for (int64_t s = 0; s < 6; ++s) {
    Tensors one = inputs;
    one[2] = x[s], one[3] = y[s];
    const Tensors expected = own(one);
    for (size_t i = 0; i < got.size(); ++i) expect_values(got[i][s], to_vector(expected[i]), 1e-5);
  }
}

TEST(Vmap, CapturedModulesGetTheSumOfTheirGradients) {
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(2, 4, 3)), nn::ReLU(), nn::Flatten(),
                       nn::Linear(16, 3));
  const Tensor x = rand({5, 1, 2, 4, 4});
  const auto f = [&](const Tensor& image) { return model->forward(image).pow(2).sum(); };
  vmap(f)(x).sum().backward();
  Tensors got;
  for (const Tensor& p : model->parameters()) got.push_back(p.grad().clone());
  model->zero_grad();
  looped(f, x).sum().backward();
  const Tensors weights = model->parameters();
  for (size_t i = 0; i < got.size(); ++i) expect_values(got[i], to_vector(weights[i].grad()), 1e-4);
}

TEST(Vmap, DrawsRandomNumbersByARule) {
  const Tensor x = ones({4, 50});
  const auto f = [](const Tensor& v) { return dropout(v, 0.5, true) + rand({50}); };
  expect_error<Error>([&] { vmap(f)(x); },
                      "called random operation while in randomness error mode");
  expect_error<ValueError>([&] { vmap(f, 0, 0, "any")(x); }, "randomness");
  const Tensor same = vmap(f, 0, 0, "same")(x), different = vmap(f, 0, 0, "different")(x);
  for (int64_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(same[i].equal(same[0]));
    EXPECT_FALSE(different[i].equal(different[0]));
  }
  // The gradient knows what was dropped.
  const Tensor leaf = x.clone().requires_grad_();
  const Tensor y =
      vmap([](const Tensor& v) { return dropout(v, 0.5, true); }, 0, 0, "different")(leaf);
  y.sum().backward();
  expect_values(leaf.grad(), to_vector(y));
}

TEST(Vmap, LoopsWhereElementsAreRead) {
  const Tensor x = tensor({{1.0, -2.0}, {3.0, 4.0}});
  const Warning::WarnAlways always;
  const Warnings warnings;
  const auto f = [](const Tensor& v) { return v.sum().item<float>() > 0 ? v : -v; };
  expect_values(vmap(f)(x), {-1, 2, 3, 4});
  EXPECT_NE(warnings.text().find("reads elements of a batched tensor"), std::string::npos);
  expect_values(vmap([](const Tensor& v) { return v.count_nonzero(); })(x), {2, 2});
  EXPECT_NE(warnings.text().find("count_nonzero has no rule for batches"), std::string::npos)
      << warnings.text();
}

TEST(Vmap, OfNoSampleSaysTheShape) {
  const Tensor none = ones({0, 2, 3}, kDouble).requires_grad_(), w = ones({3, 4}, kDouble);
  const auto shape = [&](auto f) { return vmap(f)(none).sizes(); };
  EXPECT_EQ(shape([](const Tensor& x) { return x * 2; }), IntArrayRef({0, 2, 3}));
  EXPECT_EQ(shape([&](const Tensor& x) { return x.matmul(w).softmax(-1); }),
            IntArrayRef({0, 2, 4}));
  EXPECT_EQ(shape([](const Tensor& x) { return std::get<0>(x.sort()).sum(0); }),
            IntArrayRef({0, 3}));
  EXPECT_EQ(shape([](const Tensor& x) { return layer_norm(x, {3}).cumsum(0); }),
            IntArrayRef({0, 2, 3}));
  EXPECT_EQ(shape([](const Tensor& x) { return std::get<0>(linalg_svd(x)); }),
            IntArrayRef({0, 2, 2}));
  EXPECT_EQ(shape([](const Tensor& x) {
              return conv2d(x.view({1, 1, 2, 3}), ones({1, 1, 2, 2}, kDouble));
            }),
            IntArrayRef({0, 1, 1, 1, 2}));
  EXPECT_EQ(vmap([&](const Tensor&) { return w * 2; }, 0, std::nullopt)(none).sizes(), w.sizes());
  const Tensor y = vmap([&](const Tensor& x) { return x.matmul(w); })(none);
  y.sum().backward();
  EXPECT_EQ(none.grad().sizes(), none.sizes());
}

TEST(Vmap, RefusesWhatDoesNotFit) {
  const Tensor x = rand({3, 2});
  const auto f = [](const Tensor& a, const Tensor& b) { return a + b; };
  const auto g = [](const Tensor& a) { return a; };
  expect_error<ValueError>([&] { vmap(f)(x, rand({4, 2})); }, "got sizes [3, 4]");
  expect_error<ValueError>([&] { vmap(f, {0})(x, x); }, "in_dims has 1 entries");
  expect_error<ValueError>([&] { vmap(f, std::nullopt)(x, x); }, "no argument is mapped over");
  expect_error<IndexError>([&] { vmap(g, 2)(x); }, "vmap");
  expect_error<IndexError>([&] { vmap(g, 0, 2)(x); }, "vmap");
  expect_error<ValueError>([&] { vmap(g, 0, std::nullopt)(x); }, "out_dims has None");
  expect_error<ValueError>([&] { vmap(g)(tensor(1.0)); }, "argument 0 is a tensor without dim");
  expect_error<ValueError>([&] { vmap(f, {0, -1})(x, tensor(1.0)); }, "argument 1");
  expect_error<Error>(
      [&] {
        vmap([](const Tensor& a) { return a * a.sum().item<float>(); })(ones({0, 2}));
      },
      "there is no sample");
  const auto growing = [](const Tensor& v) { return ones({v.item<int64_t>()}); };
  expect_error<ValueError>(
      [&] {
        vmap(growing)(tensor({1, 2}));
      },
      "returned shape [1] for slice 0 and [2]");
  Tensor leaked;
  vmap([&](const Tensor& a) { return leaked = a * 2; })(x);
  expect_error<batching::NotBatched>([&] { leaked.data_ptr(); }, "batched tensor");
}

TEST(Vmap, MeetsFuse) {
  const Tensor x = rand({3, 4}), y = rand({4});
  const auto chain = [](const Tensor& a, const Tensor& b) { return (a * b).exp() + a.sin(); };
  auto fused = fuse(vmap(chain, {0, std::nullopt}));
  expect_values(fused(x, y), to_vector(chain(x, y)));
  EXPECT_EQ(fused.why_not(), "");
  const std::string text = fused.source();
  EXPECT_EQ(text.find("__global__"), text.rfind("__global__"));
  auto inner = fuse(chain);
  expect_values(vmap(inner, {0, std::nullopt})(x, y), to_vector(chain(x, y)));
}

}  // namespace
}  // namespace gradus
