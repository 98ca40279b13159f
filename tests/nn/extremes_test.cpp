// Operands without elements, and infinite, NaN, tiny and huge ones: what PyTorch gives, for
// functions and layers of each kind.
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support.h"

namespace gradus {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

Tensor doubles(const std::vector<double>& values) { return tensor(values, kDouble); }
Tensor matrix(const std::vector<double>& values) {
  return doubles(values).view({-1, values.size() == 4 ? 2 : 1});
}
// The gradient of the sum of f at x.
Tensor gradient_of(Tensor x, const std::function<Tensor(const Tensor&)>& f) {
  x = x.clone().requires_grad_();
  f(x).sum().backward();
  return x.grad();
}

struct Extreme {
  const char* name;
  std::function<Tensor()> f;
  std::vector<double> expected;
};

// The numbers are PyTorch's 1.13, where that is no fault of it (docs/from-libtorch.md has those).
const std::vector<Extreme> kExtremes = {
    // Where a formula divides by 0, or has two sides.
    {"the gradients of atan2 at the origin, and beside it",
     [] {
       const Tensor y = doubles({0, -0.0, 1e-200, 3}).requires_grad_(),
                    x = doubles({0, 0, 0, 4}).requires_grad_();
       const Tensors grads = autograd::grad({atan2(y, x).sum()}, {y, x});
       return cat({grads[0], grads[1]});
     },
     {0, 0, 0, 0.16, 0, 0, -1e-200, -0.12}},
    {"the gradient of hardswish at its ends",
     [] {
       return gradient_of(doubles({-3.5, -3, 0, 3, 3.5}), [](auto& x) { return hardswish(x); });
     },
     {0, 0, 0.5, 1, 1}},
    // A singular matrix has an infinite condition, and one with NaN none.
    {"cond 1 of zeros",
     [] {
       return linalg::cond(zeros({2, 2, 2}, kDouble), 1);
     },
     {kInfinite, kInfinite}},
    {"cond -1 of zeros",
     [] {
       return linalg::cond(zeros({2, 2}, kDouble), -1);
     },
     {kInfinite}},
    {"cond inf of zeros",
     [] {
       return linalg::cond(zeros({2, 2}, kDouble), kInfinite);
     },
     {kInfinite}},
    {"cond -inf of zeros",
     [] {
       return linalg::cond(zeros({2, 2}, kDouble), -kInfinite);
     },
     {kInfinite}},
    {"cond fro of zeros",
     [] {
       return linalg::cond(zeros({2, 2}, kDouble), "fro");
     },
     {kInfinite}},
    {"cond nuc of zeros",
     [] {
       return linalg::cond(zeros({2, 2}, kDouble), "nuc");
     },
     {kInfinite}},
    {"cond 1 of rank 1",
     [] {
       return linalg::cond(matrix({1, 2, 2, 4}), 1);
     },
     {kInfinite}},
    {"cond 1 of inf",
     [] {
       return linalg::cond(matrix({kInfinite, 1, 2, 3}), 1);
     },
     {kInfinite}},
    {"cond -1 of inf",
     [] {
       return linalg::cond(matrix({kInfinite, 1, 2, 3}), -1);
     },
     {0}},
    {"cond 1 of nan",
     [] {
       return linalg::cond(matrix({kNoNumber, 1, 2, 3}), 1);
     },
     {kNoNumber}},
    {"cond fro of nan",
     [] {
       return linalg::cond(matrix({1, 2, kNoNumber, 3}), "fro");
     },
     {kNoNumber}},
    {"matrix_exp of -inf",
     [] {
       return matrix_exp(doubles({-kInfinite, kInfinite, kNoNumber, 0}).view({4, 1, 1}));
     },
     {0, kInfinite, kNoNumber, 1}},
    // The distance of order 0 counts what differs; beside NaN it is unknown.
    {"cdist 0 of nan",
     [] {
       return cdist(matrix({kNoNumber, 1, 0, 0}), matrix({1, 1, 0, 1}), 0);
     },
     {kNoNumber, kNoNumber, 2, 1}},
    {"cdist 0 of inf",
     [] {
       return cdist(matrix({kInfinite, 1, 0, 0}), matrix({1, 1, 0, 1}), 0);
     },
     {1, 1, 2, 1}},
    {"cdist 0 of tiny",
     [] {
       return cdist(matrix({1e-300, 0, 0, 0}), matrix({0, 0, 0, 1}), 0);
     },
     {1, 2, 0, 1}},
    {"pdist 0 of nan",
     [] {
       return pdist(matrix({kNoNumber, 1, 0, 1}), 0);
     },
     {kNoNumber}},
    {"cdist 2 of inf",
     [] {
       return cdist(matrix({kInfinite, 1, 0, 0}), matrix({1, 1, 0, 1}), 2);
     },
     {kInfinite, kInfinite, std::sqrt(2), 1}},
    {"cdist inf of nan",
     [] {
       return cdist(matrix({kNoNumber, 1, 0, 0}), matrix({1, 1, 0, 1}), kInfinite);
     },
     {kNoNumber, kNoNumber, 1, 1}},
    // Each NaN is a value of its own, behind all numbers.
    {"mode of nan",
     [] {
       return std::get<0>(mode(doubles({kNoNumber, kNoNumber, 1})));
     },
     {1}},
    {"mode of 1 beside nan",
     [] {
       return std::get<0>(mode(doubles({kNoNumber, 1, 2, 2})));
     },
     {2}},
    {"mode of nothing else",
     [] {
       return std::get<0>(mode(doubles({kNoNumber, kNoNumber})));
     },
     {kNoNumber}},
    {"mode of -inf",
     [] {
       return std::get<0>(mode(doubles({-kInfinite, kNoNumber, -kInfinite})));
     },
     {-kInfinite}},
    {"j0",
     [] {
       return spherical_bessel_j0(doubles({kInfinite, -kInfinite, kNoNumber, 0}));
     },
     {0, 0, kNoNumber, 1}},
    // The root has no slope at 0; relu() before it lets none through.
    {"lp_pool1d at 0",
     [] {
       return gradient_of(zeros({1, 1, 4}, kDouble), [](auto& x) { return nn::LPPool1d(2, 2)(x); });
     },
     {0, 0, 0, 0}},
    {"lp_pool2d at 0",
     [] {
       return gradient_of(zeros({1, 1, 2, 2}, kDouble),
                          [](auto& x) { return nn::LPPool2d(3, 2)(x); });
     },
     {0, 0, 0, 0}},
    {"lp_pool3d at 0",
     [] {
       return gradient_of(zeros({1, 1, 1, 2, 2}, kDouble), [](auto& x) {
         return nn::LPPool3d(2, std::array<int64_t, 3>{1, 2, 2})(x);
       });
     },
     {0, 0, 0, 0}},
    {"lp_pool1d of 1 at 0",
     [] {
       return gradient_of(doubles({0, 0, 2, 0}).view({1, 1, 4}),
                          [](auto& x) { return nn::LPPool1d(1, 2)(x); });
     },
     {0, 0, 1, 1}},
    {"sum of no channels",
     [] {
       return adaptive_avg_pool1d(ones({2, 0, 4}), {2}).sum() + 1;
     },
     {1}},
    {"trapezoid of inf",
     [] {
       return trapezoid(doubles({kInfinite, 1}));
     },
     {kInfinite}},
    {"trapezoid of one", [] { return trapezoid(doubles({kInfinite})); }, {0}},
};

TEST(Extremes, GiveWhatPyTorchGives) {
  for (const Extreme& row : kExtremes) {
    SCOPED_TRACE(row.name);
    expect_values(row.f(), row.expected);
  }
}

// What was not chosen gets no gradient, not even NaN of an infinite one, as by PyTorch's masks: the
// root of relu(x) has a slope of 0 where that of the root alone is infinite.
TEST(Choices, LetNoGradientThrough) {
  struct Choice {
    const char* name;
    std::function<Tensor(const Tensor& x, const Tensor& y)> f;
    std::vector<double> expected;
  };
  const std::vector<Choice> choices = {
      {"relu", [](auto& x, auto&) { return relu(x); }, {0, 0, 0, kInfinite, kInfinite, kInfinite}},
      {"relu6", [](auto& x, auto&) { return relu6(x); }, {0, 0, 0, kInfinite, kInfinite, 0}},
      {"hardsigmoid",
       [](auto& x, auto&) { return hardsigmoid(x); },
       {0, kInfinite, kInfinite, kInfinite, 0, 0}},
      {"hardswish",
       [](auto& x, auto&) { return hardswish(x); },
       {0, kInfinite, kInfinite, kInfinite, kInfinite, kInfinite}},
      {"hardtanh", [](auto& x, auto&) { return hardtanh(x); }, {0, 0, kInfinite, kInfinite, 0, 0}},
      {"clamp",
       [](auto& x, auto&) { return clamp(x, 0, 5); },
       {0, 0, kInfinite, kInfinite, kInfinite, 0}},
      {"maximum",
       [](auto& x, auto& y) { return maximum(x, y); },
       {0, 0, kInfinite, 0, kInfinite, kInfinite}},
      {"minimum",
       [](auto& x, auto& y) { return minimum(x, y); },
       {kInfinite, kInfinite, kInfinite, kInfinite, 0, kInfinite}},
      {"fmax",
       [](auto& x, auto& y) { return fmax(x, y); },
       {0, 0, kInfinite, 0, kInfinite, kInfinite}},
      {"fmin",
       [](auto& x, auto& y) { return fmin(x, y); },
       {kInfinite, kInfinite, kInfinite, kInfinite, 0, kInfinite}},
      {"where", [](auto& x, auto& y) { return where(x > y, x, y); }, {0, 0, 0, 0, kInfinite, 0}},
      {"max", [](auto& x, auto&) { return max(x); }, {0, 0, 0, 0, 0, kInfinite}},
      {"min", [](auto& x, auto&) { return min(x); }, {kInfinite, 0, 0, 0, 0, 0}},
      {"max of dim",
       [](auto& x, auto&) { return std::get<0>(max(x, 0)); },
       {0, 0, 0, 0, 0, kInfinite}},
      {"median", [](auto& x, auto&) { return median(x); }, {0, 0, kInfinite, 0, 0, 0}},
      {"kthvalue",
       [](auto& x, auto&) { return std::get<0>(kthvalue(x, 2)); },
       {0, kInfinite, 0, 0, 0, 0}}};
  for (const Device device : cpu_and_cuda())
    for (const ScalarType dtype : {kFloat, kDouble, kBFloat16})
      for (const bool create_graph : {false, true})
        for (const Choice& row : choices) {
          SCOPED_TRACE(
              (std::ostringstream() << row.name << " in " << dtype << " on " << device).str());
          const Tensor x = doubles({-4, -1, 0, 0.5, 4, 7}).to(device, dtype).requires_grad_();
          const Tensor out = row.f(x, doubles({0, 0, 0, 1, 3, 7}).to(device, dtype));
          expect_values(autograd::grad({out}, {x}, {full_like(out, kInfinite)}, std::nullopt,
                                       create_graph)[0],
                        row.expected);
        }
  expect_values(gradient_of(doubles({-1, 0, 4}), [](auto& x) { return relu(x).sqrt(); }),
                {0, 0, 0.25});
}

// What is sized, typed or shaped in a way of its own.
TEST(Extremes, AreTakenWherePyTorchTakesThem) {
  const auto expect_sizes = [](const Tensor& x, const std::vector<int64_t>& sizes) {
    EXPECT_EQ(x.sizes().vec(), sizes);
  };
  // No channels; the maximum of nothing is refused.
  expect_sizes(adaptive_avg_pool1d(ones({2, 0, 4}), {3}), {2, 0, 3});
  expect_sizes(adaptive_avg_pool2d(ones({2, 0, 4, 4}), {3, 1}), {2, 0, 3, 1});
  expect_sizes(adaptive_avg_pool3d(ones({2, 0, 4, 4, 4}), {3, 1, 2}), {2, 0, 3, 1, 2});
  expect_error<ValueError>(
      [] {
        adaptive_max_pool2d(ones({2, 0, 4, 4}), {2, 2});
      },
      "non-zero size");
  expect_error<ValueError>(
      [] {
        adaptive_avg_pool2d(ones({2, 1, 0, 4}), {2, 2});
      },
      "non-zero size");
  // An empty batch.
  for (const bool ceil : {false, true}) {
    expect_sizes(max_pool2d(ones({0, 2, 4, 4}), 2, {}, 0, 1, ceil), {0, 2, 2, 2});
    expect_sizes(avg_pool3d(ones({0, 2, 4, 4, 4}), 2, {}, 0, ceil), {0, 2, 2, 2, 2});
  }
  // A weight of one output has no dimension for it.
  const Tensor x = doubles({1, 2, 3, 4, 5, 6}).view({2, 3}), w = doubles({1, 0, -1});
  expect_values(nn::functional::linear(x, w), {-2, -2});
  expect_values(linear(x, w, doubles({5}).squeeze()), {3, 3});
  expect_sizes(linear(ones({2, 0, 3}, kDouble), w), {2, 0});
  expect_values(gradient_of(w, [&](const Tensor& v) { return linear(x, v); }), {5, 7, 9});
  // Integrals of no integers keep their type; sums so far have that of halves.
  EXPECT_EQ(trapezoid(ones({3, 0}, kInt)).dtype(), kInt);
  EXPECT_EQ(trapezoid(ones({3, 0}, kInt), ones({3, 0}, kInt)).dtype(), kInt);
  EXPECT_EQ(cumulative_trapezoid(ones({3, 0}, kInt)).dtype(), kFloat);
  // One number is that of every spatial dimension.
  using Options = nn::functional::InterpolateFuncOptions;
  const auto twice = Options().scale_factor(std::vector<double>{2});
  const auto to_3 = Options().size(std::vector<int64_t>{3});
  for (const int spatial : {1, 2, 3}) {
    std::vector<int64_t> sizes(static_cast<size_t>(spatial) + 2, 2);
    std::vector<int64_t> doubled = sizes, threes = sizes;
    for (size_t d = 2; d < sizes.size(); ++d) doubled[d] = 4, threes[d] = 3;
    expect_sizes(nn::functional::interpolate(ones(sizes), twice), doubled);
    expect_sizes(nn::functional::interpolate(ones(sizes), to_3), threes);
  }
  // Pictures without a batch.
  const Tensor picture = arange(12, kDouble).view({1, 3, 4});
  nn::Unfold unfold(nn::UnfoldOptions({2, 3}));
  EXPECT_TRUE(unfold(picture).equal(unfold(picture.unsqueeze(0)).squeeze(0)));
  // No place to normalize over; one alone has no variance.
  expect_sizes(nn::InstanceNorm1d(2)(ones({3, 2, 0})), {3, 2, 0});
  expect_sizes(nn::InstanceNorm2d(2)(ones({3, 2, 4, 0})), {3, 2, 4, 0});
  expect_error<ValueError>([] { nn::InstanceNorm1d(2)(ones({3, 2, 1})); }, "more than 1 spatial");
  // The stride of a dimension without a second element is any: other libraries write 1.
  const Tensor pairs = doubles({1, 2, 3, 4}).view({2, 1, 2}).as_strided({2, 1, 2}, {2, 1, 1});
  expect_sizes(view_as_complex(pairs), {2, 1});
  expect_values(view_as_complex(pairs).imag(), {2, 4});
  expect_sizes(view_as_complex(zeros({0, 2}).as_strided({0, 2}, {1, 1})), {0});
  expect_error<ValueError>(
      [] {
        view_as_complex(zeros({9}).as_strided({2, 2}, {3, 1}));
      },
      "divisible by 2");
}

// Squares that the type cannot hold: a variance is infinite, and what is divided by its root is 0
// or, where the rows are added up in double, as near 1 as ever. Nothing is NaN.
TEST(Deviations, OfHugeNumbers) {
  const Tensor x = doubles({1, 2, 4, -3, 0.5, 7, -2, 1.5, 3, 3, -1, 2}).view({2, 3, 2});
  using Function = std::function<Tensor(const Tensor&)>;
  const std::vector<std::pair<const char*, Function>> infinite = {
      {"std", [](const Tensor& t) { return gradus::std(t); }},
      {"std of dim 0", [](const Tensor& t) { return gradus::std(t, 0); }},
      {"std of two dims",
       [](const Tensor& t) {
         return gradus::std(t, {0, 2}, 0.0, true);
       }},
      {"std_mean", [](const Tensor& t) { return std::get<0>(std_mean(t, 0)); }},
      {"var", [](const Tensor& t) { return var(t); }},
      {"var of dim 0", [](const Tensor& t) { return var(t, 0); }},
      {"var_mean", [](const Tensor& t) { return std::get<0>(var_mean(t, 0)); }},
      {"running_var",
       [](const Tensor& t) {
         nn::BatchNorm1d norm(3);
         norm->to(t.scalar_type());
         EXPECT_TRUE((norm(t) == 0).all().item<bool>());
         return norm->running_var.clone();
       }},
      {"running_var of instances", [](const Tensor& t) {
         nn::InstanceNorm1d norm(nn::InstanceNorm1dOptions(3).track_running_stats(true));
         norm->to(t.scalar_type());
         norm(t);
         return norm->running_var.clone();
       }}};
  for (const Tensor& huge : {(x * 1e30).to(kFloat), x * 1e200})
    for (const auto& [name, f] : infinite) {
      SCOPED_TRACE(name);
      const Tensor y = f(huge);
      expect_values(y, std::vector<double>(static_cast<size_t>(y.numel()), kInfinite));
    }
  const Tensor huge = (x * 1e30).to(kFloat);
  expect_values(layer_norm(huge, {3, 2}), to_vector(layer_norm(x, {3, 2}, {}, {}, 1e-30)), 1e-5);
  expect_values(group_norm(huge, 1), to_vector(group_norm(x, 1, {}, {}, 1e-30)), 1e-5);
  expect_values(nn::InstanceNorm1d(3)(huge), to_vector(group_norm(x, 3, {}, {}, 1e-30)), 1e-5);
  expect_values(layer_norm(x * 1e200, {3, 2}), std::vector<double>(12, 0));
  // Small numbers stay exact: squares of differences that the type holds.
  for (const double scale : {1e-15, 1e15}) {
    expect_values(gradus::std((x * scale).to(kFloat), 0).to(kDouble) / scale,
                  to_vector(gradus::std(x, 0)));
    expect_values(var(x * (scale * scale), 1) / std::pow(scale, 4), to_vector(var(x, 1)));
  }
}

// A mean of infinite numbers is infinite, whichever comes first, and of both signs it is NaN.
TEST(Deviations, OfInfiniteNumbers) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const bool first : {false, true}) {
      Tensor x = doubles({1, 2, 4, -3, 0.5, 7, -2, 1.5}).view({4, 2}).to(dtype);
      x.index_put_({first ? 0 : 3, 0}, kInfinite);
      x.index_put_({1, 1}, -kInfinite), x.index_put_({2, 1}, kInfinite);
      nn::BatchNorm1d norm(2);
      norm->to(dtype);
      norm(x);
      expect_values(norm->running_mean, {kInfinite, kNoNumber});
      expect_values(norm->running_var, {kNoNumber, kNoNumber});
      expect_values(mean(x, 0), {kInfinite, kNoNumber});
      expect_values(var(x, 0), {kNoNumber, kNoNumber});
    }
}

// A transposed convolution multiplies no weight by the zeros of padding or of strides, so that an
// infinite weight reaches only its own places.
TEST(TransposedConvolution, TakesAnInfiniteWeightWhereItBelongs) {
  struct Shape {
    std::vector<int64_t> input, weight;
    int64_t stride, padding, dilation, groups;
  };
  for (const Shape& s : std::vector<Shape>{{{2, 2, 5}, {2, 3, 3}, 1, 0, 1, 1},
                                           {{1, 4, 9}, {4, 2, 3}, 3, 1, 2, 2},
                                           {{2, 2, 4, 5}, {2, 3, 3, 3}, 1, 1, 1, 1},
                                           {{1, 2, 4, 5}, {2, 1, 2, 3}, 2, 0, 1, 2},
                                           {{2, 8, 6, 6}, {8, 16, 3, 3}, 1, 1, 1, 1},
                                           {{1, 2, 3, 4, 3}, {2, 2, 2, 3, 2}, 2, 1, 2, 1},
                                           {{1, 3, 3, 3, 3}, {3, 1, 2, 2, 2}, 1, 0, 1, 3}})
    for (const ScalarType dtype : {kFloat, kDouble})
      for (const double value : {kInfinite, kNoNumber}) {
        const auto f = [&](const Tensor& input, const Tensor& weight) {
          const int64_t spatial = input.dim() - 2;
          const auto all = [&](int64_t n) {
            return std::vector<int64_t>(static_cast<size_t>(spatial), n);
          };
          return convolution(input, weight, {}, all(s.stride), all(s.padding), all(s.dilation),
                             true, all(0), s.groups);
        };
        const Tensor input = rand(s.input, dtype) + 1, weight = randn(s.weight, dtype);
        Tensor without = weight.clone(), alone = zeros_like(weight), with = weight.clone();
        const int64_t place = weight.numel() / 2;
        without.view({-1})[place].zero_(), alone.view({-1})[place].fill_(1);
        with.view({-1})[place].fill_(value);
        const Tensor reached = f(input, alone) > 0;
        ASSERT_TRUE(reached.any().item<bool>() && !reached.all().item<bool>());
        const Tensor out = f(input, with);
        EXPECT_TRUE(out.isfinite().equal(reached.logical_not()));
        EXPECT_TRUE(allclose(out.masked_select(reached.logical_not()),
                             f(input, without).masked_select(reached.logical_not()), 1e-4, 1e-5));
        if (value == kInfinite) {
          EXPECT_TRUE((out.masked_select(reached) == kInfinite).all().item<bool>());
        }
      }
}

}  // namespace
}  // namespace gradus
