// Gradients at bounds and ties: values that are written twice, norms of order below 1 beside zeros,
// differences of order 0, and what is as in PyTorch where a derivative jumps.
#include <functional>

#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

Tensor places(std::vector<int64_t> values) { return tensor(values, kLong); }

// Functions that write a value, of one number or of several, to places of which some repeat. Each
// counts as often as it is found in the result.
struct Writer {
  const char* name;
  Dims value;  // its shape
  std::function<Tensor(const Tensor& self, const Tensor& value)> f;
};
using indexing::Slice;
const std::vector<Writer> kWriters = {
    {"index_fill",
     {},
     [](const Tensor& x, const Tensor& v) {
       return x.index_fill(0, places({1, 0, 1, 1}).to(x.device()), v);
     }},
    {"index_fill of a dimension",
     {},
     [](const Tensor& x, const Tensor& v) {
       return x.index_fill(1, places({2, 2}).to(x.device()), v);
     }},
    {"index_fill_",
     {},
     [](const Tensor& x, const Tensor& v) {
       return x.clone().index_fill_(0, places({1, 1}).to(x.device()), v);
     }},
    {"index_put of a number",
     {},
     [](const Tensor& x, const Tensor& v) {
       return x.index_put({places({1, 1, 0}).to(x.device())}, v);
     }},
    {"index_put of a row",
     {3},
     [](const Tensor& x, const Tensor& v) {
       return x.index_put({places({1, 1}).to(x.device())}, v);
     }},
    {"index_put of each",
     {3, 3},
     [](const Tensor& x, const Tensor& v) {
       return x.index_put({places({1, 0, 1}).to(x.device())}, v);
     }},
    {"index_put of pairs",
     {4},
     [](const Tensor& x, const Tensor& v) {
       return x.index_put(
           {places({1, 0, 1, 1}).to(x.device()), places({2, 2, 2, 0}).to(x.device())}, v);
     }},
    {"index_put_",
     {4},
     [](const Tensor& x, const Tensor& v) {
       return x.clone().index_put_({Slice(), places({1, 0, 1, 1}).to(x.device())}, v);
     }},
    {"accumulate",
     {3, 3},
     [](const Tensor& x, const Tensor& v) {
       return x.index_put({places({1, 0, 1}).to(x.device())}, v, true);
     }},
    {"put",
     {3},
     [](const Tensor& x, const Tensor& v) {
       return x.put(places({4, 0, 4}).to(x.device()), v);
     }},
    {"index_copy",
     {3, 3},
     [](const Tensor& x, const Tensor& v) {
       return x.index_copy(0, places({1, 0, 1}).to(x.device()), v);
     }},
    {"scatter",
     {2, 3},
     [](const Tensor& x, const Tensor& v) {
       return x.scatter(0, places({0, 1, 0, 0, 1, 1}).view({2, 3}).to(x.device()), v);
     }},
    {"scatter_",
     {2, 3},
     [](const Tensor& x, const Tensor& v) {
       return x.clone().scatter_(1, places({0, 1, 0, 2, 2, 2}).view({2, 3}).to(x.device()), v);
     }},
    {"scatter_add",
     {2, 3},
     [](const Tensor& x, const Tensor& v) {
       return x.scatter_add(1, places({0, 1, 0, 2, 2, 2}).view({2, 3}).to(x.device()), v);
     }},
    {"masked_fill", {}, [](const Tensor& x, const Tensor& v) { return x.masked_fill(x > 0, v); }},
    {"masked_fill of a broadcast mask",
     {},
     [](const Tensor& x, const Tensor& v) {
       return x.masked_fill(tensor({1., 0., 1.}).to(x.device()) > 0, v);
     }},
    {"masked_scatter",
     {6},
     [](const Tensor& x, const Tensor& v) { return x.masked_scatter(x > 0, v); }},
    {"mask", {}, [](const Tensor& x, const Tensor& v) { return x.index_put({x > 0}, v); }},
};

TEST(WrittenValues, HaveGradientsOfWhatIsLeftOfThem) {
  for (const Device device : cpu_and_cuda())
    for (const Writer& writer : kWriters) {
      SCOPED_TRACE(writer.name + (' ' + device.str()));
      const TensorOptions here = TensorOptions(kDouble).device(device);
      const Tensor self = tensor({1., -2., 3., 4., -5., 6.}).to(here).view({2, 3}).requires_grad_();
      const Tensor value =
          arange(10, 10 + numel_of(writer.value), here).view(writer.value).requires_grad_();
      const Tensor weight = tensor({1., 10., 100., 1000., 1e4, 1e5}).to(here).view({2, 3});
      const auto loss = [&](const Tensor& x, const Tensor& v) {
        return (writer.f(x, v) * weight).sum();
      };
      loss(self, value).backward();
      // The result is linear in both.
      for (const Tensor& operand : {self, value}) {
        const NoGradGuard guard;
        const Tensor flat = operand.grad().reshape({-1});
        const double before = loss(self, value).item<double>();
        for (int64_t i = 0; i < flat.numel(); ++i) {
          const Tensor step = zeros_like(operand);
          step.view({-1})[i].fill_(0.5);
          const bool of_self = operand.is_same(self);
          const double after = of_self ? loss(self + step, value).item<double>()
                                       : loss(self, value + step).item<double>();
          EXPECT_NEAR(flat[i].item<double>(), (after - before) / 0.5, 1e-6)
              << (of_self ? "self " : "value ") << i;
        }
      }
    }
}

TEST(WrittenValues, HaveSecondDerivatives) {
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0].index_put({places({1, 0, 1})}, in[1]).square(),
                               in[0].scatter(0, places({1, 0, 1}), in[1]).square()};
  };
  const std::vector<Tensor> in{randn({2}, kDouble).requires_grad_(),
                               randn({3}, kDouble).requires_grad_()};
  EXPECT_TRUE(autograd::gradcheck(f, in));
  EXPECT_TRUE(autograd::gradgradcheck(f, in));
}

TEST(Norm, OfEachOrderHasAFiniteGradientBesideZeros) {
  using Form = Tensor (*)(const Tensor&, double);
  const Form forms[] = {[](const Tensor& x, double p) { return x.norm(p); },
                        [](const Tensor& x, double p) { return dist(x, zeros_like(x), p); },
                        [](const Tensor& x, double p) { return linalg_vector_norm(x, p); },
                        [](const Tensor& x, double p) {
                          return x.view({1, -1}).norm(p, {1}).sum();
                        }};
  for (const Form f : forms)
    for (const double p : {-3., -2., -1., -0.5, 0.25, 0.5, 1., 1.5, 2., 2.5, 3., 7.}) {
      SCOPED_TRACE(p);
      const Tensor x = tensor({0., 1., 2.}, kDouble).requires_grad_();
      const Tensor y = f(x, p);
      y.backward();
      // Below 0 the norm is 0, whatever the others are.
      const double size = p < 0 ? 0 : std::pow(1 + std::pow(2, p), 1 / p);
      EXPECT_NEAR(y.item<double>(), size, 1e-12);
      if (p < 0)
        expect_values(x.grad(), {0, 0, 0}, 0);
      else
        expect_values(x.grad(), {0, std::pow(size, 1 - p), std::pow(2 / size, p - 1)}, 1e-9);
      const Tensor none = zeros({3}, kDouble).requires_grad_();
      f(none, p).backward();
      expect_values(none.grad(), {0, 0, 0}, 0);
    }
}

TEST(Diff, OfOrder0IsSelfAlone) {
  const Tensor x = tensor({1., 3.}), more = tensor({7.});
  EXPECT_TRUE(diff(x, 0, -1, more).equal(x));
  EXPECT_TRUE(diff(x, 0, -1, more, more).equal(x));
  EXPECT_TRUE(diff(x, 1, -1, more, more).equal(tensor({-6., 2., 4.})));
}

TEST(BackwardFunctions, RefuseIntegers) {
  const Tensor n = ones({2}, kLong), x = ones({2});
  expect_error<TypeError>([&] { tanh_backward(n, n); }, "tanh_backward: dtype int64");
  expect_error<TypeError>([&] { tanh_backward(x, n); }, "tanh_backward: dtype int64");
  expect_error<TypeError>([&] { sigmoid_backward(n, x); }, "sigmoid_backward: dtype int64");
  expect_error<TypeError>([&] { sigmoid_backward(x, n); }, "sigmoid_backward: dtype int64");
}

// As PyTorch 2 counts them: arange by the bounds as they are given, range by those of the dtype.
TEST(Arange, IntoIntegersCountsByItsBounds) {
  for (const ScalarType dtype : {kByte, kShort, kInt, kLong}) {
    SCOPED_TRACE(toString(dtype));
    EXPECT_TRUE(arange(0.5, 3.7, dtype).equal(tensor({0, 1, 2, 3}).to(dtype)));
    EXPECT_TRUE(arange(2.5, dtype).equal(tensor({0, 1, 2}).to(dtype)));
    EXPECT_TRUE(arange(1.9, 3, dtype).equal(tensor({1, 2}).to(dtype)));
    EXPECT_TRUE(range(0.5, 3.2, dtype).equal(tensor({0, 1, 2, 3}).to(dtype)));
    EXPECT_TRUE(range(0.9, 2.1, dtype).equal(tensor({0, 1, 2}).to(dtype)));
    EXPECT_TRUE(range(0, 5, 2.5, dtype).equal(tensor({0, 2, 4}).to(dtype)));
    EXPECT_THROW(range(0, 1, 0.5, dtype), ValueError);
  }
  EXPECT_EQ(arange(int64_t{1} << 62, (int64_t{1} << 62) + 3).size(0), 3);
}

}  // namespace
}  // namespace gradus
