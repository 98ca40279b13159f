// fuse(): the values and gradients of the function, in few kernels, on the CPU and on CUDA.
#include "gradus/autograd/tools/fuse.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/support.h"

namespace gradus {
namespace {

// The warnings of this thread while it lives.
class Warnings final : public WarningHandler {
 public:
  Warnings() : before_(Warning::get_warning_handler()) { Warning::set_warning_handler(this); }
  ~Warnings() override { Warning::set_warning_handler(before_); }
  void process(const SourceLocation&, const std::string& message, bool) override {
    all.push_back(message);
  }
  std::vector<std::string> all;

 private:
  WarningHandler* before_;
};

using Function = std::function<Tensor(const Tensors&)>;

// A chain, and the shapes of its arguments for three extents.
struct Chain {
  const char* name;
  Function f;
  std::function<std::vector<std::vector<int64_t>>(int64_t, int64_t, int64_t)> shapes;
};

std::vector<Chain> chains() {
  const auto one = [](int64_t a, int64_t b, int64_t c) {
    return std::vector<std::vector<int64_t>>{{a, b, c}};
  };
  const auto with_row = [](int64_t a, int64_t b, int64_t c) {
    return std::vector<std::vector<int64_t>>{{a, b, c}, {c}, {c}};
  };
  const auto two = [](int64_t a, int64_t b, int64_t) {
    return std::vector<std::vector<int64_t>>{{a, b}, {b, a}};
  };
  return {
      {"circle", [](const Tensors& x) { return x[0].cos().square() + x[0].sin().square() * 3; },
       one},
      {"selu", [](const Tensors& x) { return selu(x[0]); }, one},
      {"bias_gelu", [](const Tensors& x) { return gelu(x[0] + x[1]) * x[2]; }, with_row},
      {"layer_norm_gelu",
       [](const Tensors& x) { return gelu(layer_norm(x[0], {x[0].size(2)}, x[1], x[2])); },
       with_row},
      {"softmax", [](const Tensors& x) { return softmax(x[0] * 2, -1) + 1; }, one},
      {"log_softmax", [](const Tensors& x) { return log_softmax(x[0], 1).exp(); }, one},
      {"squared_error", [](const Tensors& x) { return (x[0] - x[1]).square().mean(); },
       [](int64_t a, int64_t b, int64_t) {
         return std::vector<std::vector<int64_t>>{{a, b}, {a, b}};
       }},
      {"normal_rows",
       [](const Tensors& x) { return x[0] / (x[0].square().sum(-1) + 1).sqrt().unsqueeze(-1); },
       one},
      {"folds_apart",  // two dimensions, which lie in memory on both sides of a third
       [](const Tensors& x) {
         const Tensor rows = x[0].permute({1, 0, 2});
         return rows / rows.sum({1, 2}, true);
       },
       one},
      {"transposed", [](const Tensors& x) { return (x[0].t() * 2 + x[1]).t().exp(); }, two},
      {"where", [](const Tensors& x) { return where(x[0] > 0.5, x[0] * 2, -x[0]).tanh(); }, one},
      {"ternary", [](const Tensors& x) { return addcmul(x[1].clamp(-0.5, 0.5), x[0], x[2], 0.3); },
       with_row},
      {"two_sums",
       [](const Tensors& x) {
         return x[0].sum(0).sqrt() + x[0].log().sum({0, 1});
       },
       one},
      {"not_contiguous",
       [](const Tensors& x) {
         return x[0].permute({2, 0, 1}) * 3 + 1;
       },
       one},
  };
}

void expect_close(const Tensor& got, const Tensor& expected, double tolerance) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  ASSERT_EQ(got.scalar_type(), expected.scalar_type());
  expect_values(got, to_vector(expected), tolerance);
}

class Fuse : public testing::TestWithParam<Chain> {};

TEST_P(Fuse, GivesTheValuesAndGradientsOfTheFunction) {
  const auto& [name, function, shapes] = GetParam();
  const auto& f = function;  // Clang 14 captures no structured binding
  manual_seed(7);
  for (const Device device : cpu_and_cuda())
    for (const ScalarType type : {kFloat, kDouble, kHalf})
      for (const auto [a, b, c] :
           {std::array{3, 4, 5}, std::array{40, 2, 96}, std::array{1, 33, 64}}) {
        // Each text that a simulated device compiles takes a second.
        const std::string chain = name;
        const bool in_full = chain == "layer_norm_gelu" || chain == "transposed";
        if (device.is_cuda() && (a == 40 ? type == kDouble : type != kFloat)) continue;
        if (device.is_cuda() && !in_full && (a != 40 || type != kFloat)) continue;
        SCOPED_TRACE(device.str() + " " + toString(type) + " " + std::to_string(a));
        Tensors x;
        for (const auto& shape : shapes(a, b, c))
          x.push_back((rand(shape, dtype(kDouble)) + 0.1).to(device, type).requires_grad_());
        const auto fused =
            x.size() == 1 ? Function([g = fuse([&](const Tensor& p) { return f({p}); })](
                                         const Tensors& in) { return g(in[0]); })
            : x.size() == 2
                ? Function([g = fuse([&](const Tensor& p, const Tensor& q) {
                              return f({p, q});
                            })](const Tensors& in) { return g(in[0], in[1]); })
                : Function([g = fuse([&](const Tensor& p, const Tensor& q, const Tensor& r) {
                              return f({p, q, r});
                            })](const Tensors& in) { return g(in[0], in[1], in[2]); });
        const Warnings warnings;
        const Tensor expected = f(x), got = fused(x);
        EXPECT_TRUE(warnings.all.empty()) << warnings.all[0];
        // float16 is rounded after each operation, as without fuse; sums are added in another
        // order.
        const double tolerance = type == kDouble ? 1e-12 : type == kFloat ? 2e-5 : 1e-2;
        expect_close(got, expected, tolerance);
        EXPECT_EQ(got.strides(), expected.strides());
        const Tensor weight = rand(got.sizes(), dtype(kDouble)).to(device, type);
        const Tensors wanted = autograd::grad({expected}, x, {weight}),
                      grads = autograd::grad({got}, x, {weight});
        for (size_t i = 0; i < x.size(); ++i) expect_close(grads[i], wanted[i], 4 * tolerance);
      }
}
INSTANTIATE_TEST_SUITE_P(Chains, Fuse, testing::ValuesIn(chains()),
                         [](const auto& chain) { return std::string(chain.param.name); });

TEST(FuseTest, HasSecondDerivatives) {
  const auto f = fuse([](const Tensor& x, const Tensor& y) { return (x * y).sin() * y.exp(); });
  const auto list = [&](const Tensors& in) { return Tensors{f(in[0], in[1])}; };
  const Tensors x = {rand({3, 4}, dtype(kDouble)).requires_grad_(),
                     rand({4}, dtype(kDouble)).requires_grad_()};
  EXPECT_TRUE(autograd::gradcheck(list, x));
  EXPECT_TRUE(autograd::gradgradcheck(list, x));
}

TEST(FuseTest, DropsWhatDropoutDrops) {
  for (const Device device : cpu_and_cuda()) {
    const auto f = [](const Tensor& x) { return dropout(x.exp(), 0.4, true) + 1; };
    const auto fused = fuse(f);
    const Tensor x = rand({50, 7}, TensorOptions(device)).requires_grad_();
    for (int call = 0; call < 2; ++call) {
      manual_seed(11 + call);
      const Tensor expected = f(x);
      const Tensor wanted = autograd::grad({expected.sum()}, {x})[0];
      manual_seed(11 + call);
      const Tensor got = fused(x);
      expect_close(got, expected, 1e-6);
      expect_close(autograd::grad({got.sum()}, {x})[0], wanted, 1e-6);
    }
  }
}

TEST(FuseTest, MakesOneKernelOfAChain) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const auto launches = [](const auto& work) {
    const auto before = cuda::stats().kernel_launches;
    work();
    return cuda::stats().kernel_launches - before;
  };
  const auto f = fuse([](const Tensor& x, const Tensor& w, const Tensor& b) {
    return gelu(layer_norm(x, {64}, w, b)).relu();
  });
  const Tensor x = rand({40, 64}, kCUDA).requires_grad_(), w = rand({64}, kCUDA),
               b = rand({64}, kCUDA);
  f(x, w, b);
  Tensor y;
  EXPECT_EQ(launches([&] { y = f(x, w, b); }), 1);
  const Tensor ones = ones_like(y);
  EXPECT_EQ(launches([&] { autograd::grad({y}, {x}, {ones}); }), 1);
}

TEST(FuseTest, ShowsItsKernels) {
  const auto f = fuse([](const Tensor& x) { return x.sigmoid() * 2; });
  EXPECT_EQ(f.source(), "");
  f(rand({100}));
  EXPECT_NE(f.source().find("v3 = v1 * float(2)"), std::string::npos) << f.source();
  EXPECT_NE(f.source().find("logistic"), std::string::npos) << f.source();

  // docs/fusion.md shows how this one ends.
  const auto swish = fuse([](const Tensor& x) { return x * x.sigmoid(); });
  swish(rand({1024}));
  std::ifstream file(GRADUS_SOURCE_DIR "/docs/fusion.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = page.find("__device__ __forceinline__ void element(");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_TRUE(swish.source().ends_with(page.substr(begin, page.find("```", begin) - begin) + "\n"))
      << swish.source();
}

// Every row of the tables as a function, and its name.
std::vector<std::pair<std::string, std::function<Tensor(const Tensor&, const Tensor&)>>> rows() {
  using X = const Tensor&;
  return {
#define UNARY(name, ...) {#name, [](X x, X) { return raw::map(UnaryOp::name, x); }},
#define PREDICATE(name, ...) UNARY(name)
#define BINARY(name, ...) {#name, [](X x, X y) { return raw::zip(BinaryOp::name, x, y); }},
#define COMPARISON(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
#define TERNARY(name, ...) \
  {#name, [](X x, X y) { return raw::ternary(TernaryOp::name, x, y, x, Scalar(0.5)); }},
#include "gradus/tensor/table/ternary.def"
#define REDUCTION(name, ...) \
  {#name, [](X x, X) { return raw::reduce(ReduceOp::name, x, IntArrayRef({1})); }},
#include "gradus/tensor/table/reductions.def"
  };
}

// A kernel calls the functions of the rows, none of CUDA's that has the same name: for that max(x,
// NaN) is x, and round(2.5) is 3.
TEST(FuseTest, ComputesEveryRowAsItsOperationDoes) {
  const float nan = NAN, infinity = INFINITY;
  const Tensor special =
      tensor({nan, infinity, -infinity, 0.0f, -0.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0.1f, 3.0f});
  const Tensor x = special.unsqueeze(1).expand({12, 12}).contiguous(), y = x.t().contiguous();
  std::vector<std::string> names;
  for (const auto& [name, row] : rows()) {
    const auto fused = fuse(row);
    const Warnings warnings;
    fused(x, y);
    if (!fused.why_not().empty() || fused.source().starts_with("// fuse:")) continue;
    names.push_back(name);
  }
  for (const char* name : {"maximum", "fmin", "round", "clamp", "pow", "amax", "amin", "norm2"})
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  const auto each = [&](const Tensor& a, const Tensor& b) {
    Tensors out;
    for (const auto& [name, row] : rows())
      if (std::ranges::find(names, name) != names.end()) out.push_back(row(a, b));
    return out;
  };
  for (const Device device : cpu_and_cuda()) {
    const Tensor a = x.to(device), b = y.to(device);
    const auto fused = fuse(each);
    const Tensors got = fused(a, b), expected = each(a, b);
    EXPECT_EQ(fused.why_not(), "");
    for (size_t i = 0; i < names.size(); ++i)
      EXPECT_TRUE(got[i].isclose(expected[i], 1e-5, 1e-6, true).all().item<bool>())
          << names[i] << " on " << device << ": " << got[i] << expected[i];
  }
}

// What no kernel is made of: the function is called as it is, and says why.
TEST(FuseTest, CallsWhatItCannotFuseAndSaysWhy) {
  const Tensor x = rand({4, 4}), captured = rand({4});
  const auto expect_call = [&](const auto& f, const std::string& reason) {
    const auto fused = fuse(f);
    const Warnings warnings;
    const Tensor argument = x.clone(), other = x.clone();
    expect_close(fused(argument), f(other), 0);
    expect_close(fused(argument), f(other), 0);
    EXPECT_NE(fused.why_not().find(reason), std::string::npos) << fused.why_not();
    ASSERT_EQ(warnings.all.size(), 1u);
    EXPECT_NE(warnings.all[0].find("called as it is"), std::string::npos) << warnings.all[0];
  };
  const std::string no_argument = "uses a tensor that is no argument, of shape [4] on cpu";
  expect_call([&](const Tensor& a) { return a * captured; }, no_argument);
  expect_call([&](const Tensor& a) { return captured - a; }, no_argument);
  expect_call([&](const Tensor& a) { return where(a > 0, a, captured); }, no_argument);
  expect_call([&](const Tensor& a) { return cat({a, captured.view({1, 4})}); }, "no argument");
  expect_call([](const Tensor& a) { return a * a.sum().item<double>(); }, "has no data");
  expect_call([](const Tensor& a) { return a.exp_() + 1; }, "changed in place");
  expect_call([](const Tensor& a) { return std::get<0>(a.sort(-1, false)); }, "sort");
}

// A reduction that goes through other columns than the rest of a kernel is computed by itself.
TEST(FuseTest, ReducesSeveralShapesForOneValue) {
  using Shape = std::vector<int64_t>;
  struct Reduced {
    const char* name;
    std::function<Tensor(const Tensor&, const Tensor&)> f;
    std::vector<std::pair<Shape, Shape>> sizes;
  };
  const std::vector<Reduced> all = {
      {"columns and all",
       [](const Tensor& x, const Tensor& y) { return (x * x).sum(0) + y.sum(); },
       {{{3, 4}, {5, 6}}}},
      {"all and all",
       [](const Tensor& x, const Tensor& y) { return (x * x).sum() * (y * y).sum(); },
       {{{3, 4}, {5, 6}}, {{3, 4}, {3, 1}}, {{3, 1}, {3, 4}}}},
      {"all and each",
       [](const Tensor& x, const Tensor& y) { return (x * x).sum() * y + 1; },
       {{{3, 1}, {3, 4}}}},
      {"rows",
       [](const Tensor& x, const Tensor& y) {
         return (x * 2).mean(-1, true) * (y * y).sum(-1, true) + y.mean(-1, true);
       },
       {{{3, 4}, {3, 7}}}},
      {"reduced again",
       [](const Tensor& x, const Tensor& y) { return ((x * x).sum(-1, true) * y).sum() - y.sum(); },
       {{{3, 4}, {3, 1}}}},
  };
  manual_seed(11);
  for (const Reduced& each : all)
    for (const auto& [of_x, of_y] : each.sizes)
      for (const Device device : cpu_and_cuda()) {
        SCOPED_TRACE(testing::Message()
                     << each.name << IntArrayRef(of_x) << IntArrayRef(of_y) << device);
        const auto fused = fuse(each.f);
        const Tensor x = randn(of_x, kDouble).to(device).requires_grad_(),
                     y = randn(of_y, kDouble).to(device).requires_grad_();
        const Tensor got = fused(x, y), expected = each.f(x, y);
        EXPECT_EQ(fused.why_not(), "");
        EXPECT_TRUE(got.allclose(expected, 1e-12, 1e-12)) << got << expected;
        const Tensors by_fused = autograd::grad({got.sum()}, {x, y}),
                      by_parts = autograd::grad({expected.sum()}, {x, y});
        for (size_t i = 0; i < 2; ++i)
          EXPECT_TRUE(by_fused[i].allclose(by_parts[i], 1e-12, 1e-12)) << by_fused[i];
      }
}

// A product parts two kernels, and the backward pass reads it again.
TEST(FuseTest, CutsAtProducts) {
  struct Cut {
    const char* name;
    std::function<Tensor(const Tensors&)> f;
    std::vector<std::vector<int64_t>> sizes;
    int kernels;  // of the forward pass
  };
  const std::vector<Cut> cuts = {
      {"product", [](const Tensors& x) { return x[0].matmul(x[1]); }, {{4, 3}, {3, 5}}, 0},
      {"before and behind",
       [](const Tensors& x) { return (x[0] * 2 + x[2]).sigmoid().matmul(x[1]).exp() + 1; },
       {{4, 3}, {3, 5}, {3}},
       2},
      {"linear",
       [](const Tensors& x) { return gelu(linear(x[0] * 2, x[1], x[2])) + x[0]; },
       {{2, 4, 3}, {3, 3}, {3}},
       2},
      {"two layers",
       [](const Tensors& x) {
         const Tensor hidden = (x[0].matmul(x[1]) + x[2]).tanh();
         return hidden.matmul(x[1].t()).relu() * x[0];
       },
       {{4, 3}, {3, 5}, {5}},
       2},
      {"batches",
       [](const Tensors& x) { return softmax(x[0].matmul(x[1].mT()) * 0.5, -1).matmul(x[1]); },
       {{2, 4, 3}, {2, 5, 3}},
       1},
      {"vectors",
       [](const Tensors& x) { return x[0].cos().mv(x[1]).sin() * x[2]; },
       {{4, 3}, {3}, {4}},
       2},
      {"expanded",
       [](const Tensors& x) {
         return (x[0].sum(1, true).expand({4, 3}) * 1).matmul(x[1]).exp();
       },
       {{4, 3}, {3, 5}},
       2},
      {"a batch of one",
       [](const Tensors& x) { return (x[0] * 2).sigmoid().matmul(x[1]).exp(); },
       {{1, 4, 3}, {3, 5}},
       2},
      {"rows of a batch of one",
       [](const Tensors& x) {
         return softmax(layer_norm(x[0].matmul(x[1]), {5}, x[2]) + softmax(x[0].matmul(x[1]), -1),
                        -1);
       },
       {{1, 4, 3}, {3, 5}, {5}},
       1},
      {"gradients of a batch of one",
       [](const Tensors& x) {
         return (layer_norm(x[0], {3}, x[2]) + softmax(x[0], -1)).matmul(x[1]);
       },
       {{1, 4, 3}, {3, 5}, {3}},
       1},
      {"used twice",
       [](const Tensors& x) {
         const Tensor y = x[0].sigmoid().matmul(x[1]);
         return y.t().matmul(y * 0.1).sin();
       },
       {{4, 3}, {3, 5}},
       3},
  };
  for (const Device device : cpu_and_cuda())
    for (const Cut& cut : cuts) {
      SCOPED_TRACE(std::string(cut.name) + " " + device.str());
      manual_seed(3);
      Tensors x;
      for (const auto& sizes : cut.sizes)
        x.push_back(randn(sizes, kDouble).to(device).requires_grad_());
      const auto fused = fuse([&](const auto&... each) { return cut.f({each...}); });
      const auto call = [&] { return x.size() == 2 ? fused(x[0], x[1]) : fused(x[0], x[1], x[2]); };
      const Tensor expected = cut.f(x), y = call();
      ASSERT_EQ(fused.why_not(), "");
      EXPECT_TRUE(allclose(y, expected));
      const Tensor weight = randn_like(expected.detach());
      const Tensors want = autograd::grad({expected}, x, {weight});
      const Tensors got = autograd::grad({y}, x, {weight});
      for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(allclose(got[i], want[i])) << i;
      EXPECT_TRUE(autograd::gradgradcheck([&](const Tensors&) { return Tensors{call()}; }, x));
      const NoGradGuard guard;
      const auto alone = fuse([&](const auto&... each) { return cut.f({each...}); });
      x.size() == 2 ? alone(x[0], x[1]) : alone(x[0], x[1], x[2]);
      const std::string source = alone.source();
      int kernels = 0;
      for (size_t at = 0; (at = source.find("__global__", at)) != std::string::npos; ++at)
        ++kernels;
      EXPECT_EQ(kernels, cut.kernels) << source;
    }
}

TEST(FuseTest, TakesInFusedFunctions) {
  const auto swish = fuse([](const Tensor& x) { return x * x.sigmoid(); });
  const auto outer = fuse([swish](const Tensor& x, const Tensor& bias) {
    return dropout(swish(swish(x + bias)), 0.0, true).exp();
  });
  const Tensor x = randn({4, 8}, kDouble).requires_grad_(), bias = randn({8}, kDouble);
  const auto plain = [](const Tensor& a) { return a * a.sigmoid(); };
  EXPECT_TRUE(allclose(outer(x, bias), plain(plain(x + bias)).exp()));
  EXPECT_EQ(outer.why_not(), "");
  EXPECT_EQ(swish.source(), "") << "it was called in a trace alone";
  const Tensor grad = autograd::grad({outer(x, bias).sum()}, {x})[0];
  EXPECT_TRUE(allclose(grad, autograd::grad({plain(plain(x + bias)).exp().sum()}, {x})[0]));
  // As a part of a function that is called as it is, it is fused by itself.
  const auto sorted = fuse([swish](const Tensor& a) { return swish(std::get<0>(a.sort())); });
  const Tensor square = randn({3, 3}, kDouble);
  const Warnings warnings;
  EXPECT_TRUE(allclose(sorted(square), plain(std::get<0>(square.sort()))));
  EXPECT_NE(sorted.why_not(), "");
  EXPECT_NE(swish.source(), "");
  EXPECT_EQ(swish.why_not(), "");
}

TEST(FuseTest, MayCallItself) {
  // Halves a vector until one element is left: sums in a tree.
  std::function<Tensor(const Tensor&)> again;
  for (const bool fusable : {true, false}) {
    const auto sum = fuse([&](const Tensor& x) -> Tensor {
      if (!fusable) x.sum().item();
      const int64_t half = x.size(0) / 2;
      if (half == 0) return x;
      return again(x.slice(0, 0, half) * 1) + again(x.slice(0, half) * 1);
    });
    again = sum;
    const Warnings warnings;
    EXPECT_EQ(sum(arange(8, kDouble)).item<double>(), 28);
    EXPECT_EQ(sum.why_not().empty(), fusable) << sum.why_not();
    EXPECT_EQ(warnings.all.size(), fusable ? 0u : 1u);
  }
}

TEST(FuseTest, TracesInSeveralThreadsAtOnce) {
  std::atomic<int> inside = 0;
  const auto f = fuse([&](const Tensor& x) {
    ++inside;
    // Waits for the other threads: a trace that kept them out would wait for ever.
    while (inside < 3) std::this_thread::yield();
    return x.exp() + 1;
  });
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] { right += allclose(f(zeros({5})), full({5}, 2.0)) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 3);
}

TEST(FuseTest, PassesOnTheErrorsOfTheFunction) {
  const auto f = fuse([](const Tensor& x, const Tensor& y) { return x + y; });
  const Warnings warnings;
  expect_error<ValueError>([&] { f(rand({3}), rand({4})); }, "add");
  expect_error<Error>([&] { f(rand({3}), Tensor()); }, "fuse: an argument is undefined");
}

TEST(Meta, OperationsSayWhatShapeResultsHave) {
  const Tensor x = empty({4, 3}, TensorOptions(kMeta)), w = empty({5, 3}, TensorOptions(kMeta));
  EXPECT_TRUE(x.is_meta());
  EXPECT_EQ(x.device().str(), "meta");
  EXPECT_EQ(linear(x, w).relu().sizes(), IntArrayRef({4, 5}));
  EXPECT_EQ(std::get<0>(x.max(1)).sizes(), IntArrayRef({4}));
  EXPECT_EQ(x.to(Device(kMeta), kHalf).scalar_type(), kHalf);
  expect_error<Error>([&] { x.sum().item<float>(); }, "is on meta and has no data");
  expect_error<Error>([&] { x + ones({4, 3}); }, "meta");
  EXPECT_EQ(ones({2}).to(kMeta).sizes(), IntArrayRef({2}));
}

}  // namespace
}  // namespace gradus
