// Complex numbers: views of parts, values, promotion, derivatives by both parts, changes of views
// in place, and what refuses them.
#include <gtest/gtest.h>

#include <complex>
#include <sstream>

#include "gradus/gradus.h"
#include "gradus/tensor/math/elementwise.h"
#include "tests/support.h"

namespace gradus {
namespace {

using C = std::complex<double>;
using F = std::complex<float>;
using autograd::gradcheck;
using autograd::gradgradcheck;

Tensor numbers(IntArrayRef sizes) {
  manual_seed(7);
  return randn(sizes, kComplexDouble);
}
std::vector<C> elements(const Tensor& x) {
  const Tensor here = x.detach().to(Device(kCPU), kComplexDouble).contiguous();
  const C* p = here.data_ptr<C>();
  return {p, p + here.numel()};
}
void expect_close(const Tensor& x, const std::vector<C>& expected, double tolerance = 1e-12) {
  const auto found = elements(x);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_LE(std::abs(found[i] - expected[i]), tolerance * (1 + std::abs(expected[i])))
        << i << ": " << found[i] << " and " << expected[i];
}

// The first and, where asked, the second derivatives are those of finite differences.
void expect_derivatives(const char* name, const autograd::CheckedFunction& f, const Tensors& x,
                        bool second = true) {
  SCOPED_TRACE(name);
  try {
    EXPECT_TRUE(gradcheck(f, x));
    if (second) {
      EXPECT_TRUE(gradgradcheck(f, x));
    }
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(Complex, DtypesPromoteAsInPyTorch) {
  EXPECT_EQ(promoteTypes(kDouble, kComplexFloat), kComplexDouble);
  EXPECT_EQ(promoteTypes(kLong, kComplexFloat), kComplexFloat);
  EXPECT_EQ(promoteTypes(kHalf, kComplexFloat), kComplexFloat);
  EXPECT_EQ(promoteTypes(kComplexFloat, kComplexDouble), kComplexDouble);
  EXPECT_EQ(toComplexType(kDouble), kComplexDouble);
  EXPECT_EQ(toRealValueType(kComplexFloat), kFloat);
  EXPECT_THROW(toComplexType(kLong), TypeError);
  const Tensor x = ones({2}), wide = ones({2}, kDouble), z = ones({2}, kComplexFloat);
  EXPECT_EQ((x * C(0, 1)).dtype(), kComplexFloat);
  EXPECT_EQ((wide * C(0, 1)).dtype(), kComplexDouble);
  EXPECT_EQ((ones({2}, kLong) * C(0, 1)).dtype(), kComplexFloat);
  EXPECT_EQ((z * 2.0).dtype(), kComplexFloat);
  EXPECT_EQ((z + wide).dtype(), kComplexDouble);
  EXPECT_EQ((x + ones({}, kComplexDouble)).dtype(), kComplexFloat);
  EXPECT_EQ((z + ones({}, kDouble)).dtype(), kComplexFloat);
  EXPECT_FALSE(canCast(kComplexFloat, kDouble));
  EXPECT_EQ(element_size(kComplexDouble), 16u);
}

TEST(Complex, TensorsHoldNumbers) {
  const Tensor z = tensor({C(1, 2), C(3, -4)});
  EXPECT_EQ(z.dtype(), kComplexDouble);
  EXPECT_TRUE(z.is_complex());
  EXPECT_FALSE(z.is_floating_point());
  EXPECT_EQ(z[1].item<C>(), C(3, -4));
  EXPECT_THROW(z[1].item<double>(), Error);
  EXPECT_EQ((z.accessor<C, 1>()[0]), C(1, 2));
  EXPECT_EQ(tensor({F(1, 2)}).dtype(), kComplexFloat);
  expect_close(full({2}, C(1, 2)), {C(1, 2), C(1, 2)});
  expect_close(zeros({2}, kComplexFloat).fill_(C(0, 3)), {C(0, 3), C(0, 3)});
  std::ostringstream out;
  out << z << "\n" << z[0];
  EXPECT_EQ(out.str(),
            "real:\n 1\n 3\nimag:\n 2\n-4\n[ CPUComplexDoubleType{2} ]\n(1,2)\n[ "
            "CPUComplexDoubleType{} ]");
}

TEST(Complex, Converts) {
  const Tensor z = tensor({C(1, 2), C(0, 3), C(0, 0)});
  expect_close(z.to(kComplexFloat), {C(1, 2), C(0, 3), C(0, 0)});
  EXPECT_TRUE(z.to(kFloat).equal(tensor({1.0, 0.0, 0.0})));
  EXPECT_TRUE(z.to(kBool).equal(tensor({true, true, false})));
  expect_close(tensor({1, 2}).to(kComplexDouble), {1, 2});
  EXPECT_THROW(ones({3}, kDouble).add_(z), TypeError);
  expect_error<ValueError>(
      [] {
        tensor({C(1, 0), C(1, 2)}, kFloat);
      },
      "tensor: can not do torch::tensor(complex, dtype=non-complex) because complex can not be "
      "casted to real number without loss of information: value cannot be converted to type float "
      "without overflow: (1,2) is beyond its limits; take a complex dtype");
  expect_error<ValueError>([] { tensor({300}, kByte); },
                           "tensor: value cannot be converted to type uint8_t without overflow: "
                           "300 is beyond its limits; take a wider dtype");
}

// The gradient of a real tensor is the real part, with memory of its own.
TEST(Complex, GradientsOfRealTensorsLieAsTheyDo) {
  const Tensor x = rand({2, 3}).requires_grad_();
  (x * tensor(C(0, 1))).abs().sum().backward();
  EXPECT_EQ(x.grad().dtype(), kFloat);
  EXPECT_EQ(x.grad().strides(), x.strides());
  EXPECT_EQ(x.grad().storage().nbytes(), x.nbytes());
}

TEST(Complex, ViewsShareMemory) {
  const Tensor z = tensor({{C(1, 2), C(3, 4)}, {C(5, 6), C(7, 8)}});
  EXPECT_EQ(view_as_real(z).sizes(), IntArrayRef({2, 2, 2}));
  EXPECT_TRUE(z.t().imag().equal(tensor({{2., 6.}, {4., 8.}}, kDouble)));
  z.real().mul_(10);
  expect_close(z[1], {C(50, 6), C(70, 8)});
  view_as_real(z).select(-1, 1).zero_();
  expect_close(z[0], {10, 30});
  const Tensor pairs = arange(8, kDouble).reshape({4, 2});
  const Tensor seen = view_as_complex(pairs.slice(0, 1, 4, 2));
  expect_close(seen, {C(2, 3), C(6, 7)});
  seen.fill_(C(0, 1));
  EXPECT_TRUE(pairs[3].equal(tensor({0., 1.}, kDouble)));
  EXPECT_THROW(view_as_complex(ones({2, 3})), ValueError);
  EXPECT_THROW(view_as_complex(ones({2, 2}).t().select(0, 0).unsqueeze(0).t()), ValueError);
  EXPECT_THROW(view_as_complex(ones({2}, kLong)), TypeError);
  EXPECT_THROW(view_as_complex(arange(9.0).narrow(0, 1, 8).view({4, 2})), ValueError);
  EXPECT_THROW(ones({2}).imag(), TypeError);
}

// The functions of <complex> at some numbers, the sides of the cuts among them.
TEST(Complex, FunctionsHaveTheirValues) {
  std::vector<C> list;
  for (const double re : {-3., -1., -0.3, -0., 0., 0.2, 0.9, 1.5, 30.})
    for (const double im : {-2., -1e-8, -0., 0., 0.7, 3.}) list.emplace_back(re, im);
  const Tensor z = tensor(list);
  const auto check = [&](const char* name, const Tensor& got, auto f) {
    SCOPED_TRACE(name);
    const auto found = elements(got);
    for (size_t i = 0; i < list.size(); ++i) {
      const C expected = f(list[i]);
      if (!std::isfinite(std::abs(expected))) continue;
      EXPECT_LE(std::abs(found[i] - expected), 1e-12 * (1 + std::abs(expected))) << list[i];
    }
  };
#define SAME(name) check(#name, z.name(), [](C x) { return std::name(x); });
  SAME(exp)
  SAME(log)
  SAME(sqrt)
  SAME(sin)
  SAME(cos)
  SAME(tan)
  SAME(asin)
  SAME(acos) SAME(atan) SAME(sinh) SAME(cosh) SAME(tanh) SAME(asinh) SAME(acosh) SAME(atanh)
      SAME(log10) SAME(conj) SAME(abs)
#undef SAME
          check("angle", z.angle(), [](C x) { return C(std::arg(x)); });
  check("neg", -z, [](C x) { return -x; });
  check("rsqrt", z.rsqrt(), [](C x) { return 1. / std::sqrt(x); });
  check("reciprocal", z.reciprocal(), [](C x) { return 1. / x; });
  check("square", z.square(), [](C x) { return x * x; });
  check("exp2", z.exp2(), [](C x) { return std::exp(x * std::log(2.)); });
  check("expm1", z.expm1(), [](C x) { return std::exp(x) - 1.; });
  check("log2", z.log2(), [](C x) { return std::log(x) / std::log(2.); });
  check("sigmoid", z.sigmoid(), [](C x) { return 1. / (1. + std::exp(-x)); });
  check("pow", z.pow(C(0.5, 1)), [](C x) { return x == 0. ? C(0) : std::pow(x, C(0.5, 1)); });
  check("cube", z.pow(3), [](C x) { return x * x * x; });
  check("sgn", z.sgn(), [](C x) { return x == 0. ? C(0) : x / std::abs(x); });
  check("mul", z * C(2, -1), [](C x) { return x * C(2, -1); });
  check("div", z / C(2, -1), [](C x) { return x / C(2, -1); });
  check("rdiv", 1 / z, [](C x) { return 1. / x; });
  check("sub", C(0, 1) - z, [](C x) { return C(0, 1) - x; });
  check("add with a factor", add(z, z, C(0, 1)), [](C x) { return x + x * C(0, 1); });
  check("strided", z.slice(0, 0, z.numel(), 1).flip(0).exp().flip(0),
        [](C x) { return std::exp(x); });
  EXPECT_TRUE(allclose(z.to(kComplexFloat).sin().to(kComplexDouble), z.sin(), 1e-5));
  EXPECT_TRUE((z == z).all().item<bool>());
  EXPECT_FALSE((z != z).any().item<bool>());
}

TEST(Complex, PredicatesLookAtBothParts) {
  const double inf = INFINITY, nan = NAN;
  const Tensor z = tensor({C(1, 2), C(nan, 0), C(0, inf), C(nan, inf)});
  EXPECT_TRUE(z.isnan().equal(tensor({false, true, false, true})));
  EXPECT_TRUE(z.isinf().equal(tensor({false, false, true, true})));
  EXPECT_TRUE(z.isfinite().equal(tensor({true, false, false, false})));
  EXPECT_TRUE(isreal(tensor({C(1, 0), C(1, 1)})).equal(tensor({true, false})));
}

// As in PyTorch: from the nearer end, so that a weight of 1 gives the end itself.
TEST(Complex, LerpGoesFromTheNearerEnd) {
  const Tensor a = tensor({C(1, 2), C(3, -1)}), b = tensor({C(0.1, 1e9), C(-7, 0.3)});
  EXPECT_TRUE(a.lerp(b, 1).equal(b));
  EXPECT_TRUE(a.lerp(b, tensor({C(1, 0), C(0, 0)})).equal(stack({b[0], a[1]})));
  expect_close(a.lerp(b, C(0, 0.25)), elements(a + (b - a) * C(0, 0.25)));
  Tensor changed = a.clone();
  changed.lerp_(b, 1);
  EXPECT_TRUE(changed.equal(b));
}

TEST(Complex, Reduces) {
  const Tensor z = tensor({{C(1, 2), C(3, 4)}, {C(5, 6), C(7, -8)}});
  expect_close(z.sum(), {C(16, 4)});
  expect_close(z.sum(0), {C(6, 8), C(10, -4)});
  expect_close(z.mean(1), {C(2, 3), C(6, -1)});
  expect_close(z.prod(), {C(1, 2) * C(3, 4) * C(5, 6) * C(7, -8)});
  expect_close(z.prod(0), {C(1, 2) * C(5, 6), C(3, 4) * C(7, -8)});
  expect_close(z.cumsum(1), {C(1, 2), C(4, 6), C(5, 6), C(12, -2)});
  expect_close(z.cumprod(1), {C(1, 2), C(-5, 10), C(5, 6), C(83, 2)});
  const Tensor many = numbers({2, 21, 3}), products = many.cumprod(1);
  for (int64_t i = 0; i < 21; ++i)
    expect_close(products.select(1, i), elements(many.narrow(1, 0, i + 1).prod(1)), 1e-11);
  expect_close(tensor(C(1, 2)).cumprod(0), {C(1, 2)});
  EXPECT_EQ(zeros({2, 0}, kComplexFloat).cumprod(1).sizes(), IntArrayRef({2, 0}));
  const double size = 1 + 4 + 9 + 16 + 25 + 36 + 49 + 64;
  expect_close(z.norm(), {std::sqrt(size)});
  expect_close(z.var(false), {size / 4 - std::norm(C(4, 1))});
  EXPECT_EQ(z.var().dtype(), kDouble);
  EXPECT_TRUE(z.any().item<bool>());
  EXPECT_EQ(zeros({3}, kComplexFloat).count_nonzero().item<int64_t>(), 0);
  EXPECT_EQ(tensor({C(0, 0), C(0, 1)}).nonzero().item<int64_t>(), 1);
}

TEST(Complex, Moves) {
  const Tensor z = numbers({3, 4});
  const auto all = elements(z);
  EXPECT_EQ(elements(z.t().contiguous().t()), all);
  EXPECT_EQ(elements(cat({z.narrow(0, 0, 1), z.narrow(0, 1, 2)}, 0)), all);
  EXPECT_EQ(elements(z.index_select(0, tensor({2, 0}))[1])[3], all[3]);
  EXPECT_EQ(elements(where(tensor({true, false, true, false}), z, z * 0)[2])[2], all[10]);
  EXPECT_EQ(elements(where(tensor({true, false, true, false}), z, C(0, 1))[2])[3], C(0, 1));
  EXPECT_EQ(elements(z.masked_fill(z.abs() < 100, C(2, 3)))[5], C(2, 3));
  EXPECT_EQ(elements(z.masked_select(z == z)), all);
  EXPECT_EQ(elements(z.flip({0, 1}).flip({1, 0})), all);
  EXPECT_EQ(elements(z.tril())[1], C(0));
  const Tensor sums = zeros({2, 4}, kComplexDouble).index_add(0, tensor({1, 0, 1}), z);
  EXPECT_LE(std::abs(elements(sums)[4] - (all[0] + all[8])), 1e-12);
  EXPECT_EQ(elements(zeros({4}, kComplexDouble).index_fill(0, tensor({1}), C(1, 1)))[1], C(1, 1));
}

TEST(Complex, Multiplies) {
  const Tensor a = numbers({2, 3}), b = randn({3, 4}, kComplexDouble);
  const auto x = elements(a), y = elements(b);
  std::vector<C> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      C sum = 0;
      for (int k = 0; k < 3; ++k) sum += x[i * 3 + k] * y[k * 4 + j];
      expected.push_back(sum);
    }
  expect_close(a.matmul(b), expected);
  expect_close(addmm(zeros({2, 4}, kComplexDouble), a, b, 1, C(0, 1)).mul(C(0, -1)), expected);
  expect_close(bmm(a.expand({2, 2, 3}), b.expand({2, 3, 4}))[1], expected);
  expect_close(linear(a, b.t().contiguous()), expected);
  expect_close(vdot(a[0], a[1]),
               {std::conj(x[0]) * x[3] + std::conj(x[1]) * x[4] + std::conj(x[2]) * x[5]});
  expect_close(a.mH()[2], {std::conj(x[2]), std::conj(x[5])});
}

// Every row of the table that takes complex numbers, to the second order.
TEST(Complex, DerivativesOfEveryRow) {
  const Tensor z = tensor({C(0.3, 0.4), C(-0.5, 0.2), C(0.7, -0.6)}).requires_grad_();
  const Tensor w = tensor({C(1.1, -0.3), C(0.4, 0.9), C(-0.8, 0.5)}).requires_grad_();
  const Tensor real = tensor({0.5, 1.5, 2.0}, kDouble).requires_grad_();
#define UNARY(name, ...)                                       \
  if constexpr (scalar::Unary<UnaryOp::name>::complex_numbers) \
    expect_derivatives(#name, [](const Tensors& x) { return Tensors{x[0].name()}; }, {z});
#define BINARY(name, ...)                                                     \
  if constexpr (scalar::Binary<BinaryOp::name>::complex_numbers) {            \
    const auto f = [](const Tensors& x) { return Tensors{x[0].name(x[1])}; }; \
    expect_derivatives(#name, f, {z, w});                                     \
    expect_derivatives(#name " by a real tensor", f, {z, real}, false);       \
    expect_derivatives(#name " of a real tensor", f, {real, w}, false);       \
  }
#include "gradus/tensor/table/elementwise.def"
}

TEST(Complex, DerivativesOfFunctions) {
  const Tensor z = numbers({2, 3}).requires_grad_();
  const Tensor w = randn({3, 2}, kComplexDouble).requires_grad_();
#define CHECK(expr) expect_derivatives(#expr, [](const Tensors& x) { return Tensors{expr}; }, {z})
  CHECK(x[0].abs());
  CHECK(x[0].angle());
  CHECK(x[0].sgn());
  CHECK(x[0].conj());
  CHECK(x[0].real() * x[0].imag());
  CHECK(view_as_real(x[0]).sum(0));
  CHECK(x[0].norm());
  CHECK(x[0].norm(1));
  CHECK(x[0].var(1));
  CHECK(x[0].std());
  CHECK(x[0].prod(1));
  CHECK(x[0].prod());
  CHECK(x[0].mean(0));
  CHECK(x[0].cumsum(1));
  CHECK(x[0].cumprod(1));
  CHECK(x[0].lerp(x[0].conj(), C(0.2, 1)));
  CHECK(x[0].lerp(x[0] * x[0], 0.2));
  CHECK(x[0].lerp(x[0].conj(), x[0] / 4));
  CHECK(x[0].index_select(1, tensor({2, 0, 2})));
  CHECK(x[0].t().reshape({-1}).narrow(0, 1, 3));
  CHECK(cat({x[0], x[0].conj()}, 0));
  CHECK(x[0].pow(C(0.5, 1)));
  CHECK(pow(C(0.5, 1), x[0]));
  CHECK(pow(2.0, x[0]));
  CHECK(x[0] * C(0, 2));
  CHECK(x[0].abs().to(kComplexDouble) * x[0]);
  CHECK(x[0].to(kDouble));
  CHECK(where(x[0].abs() > 1, x[0], x[0] * 2));
  CHECK(x[0].flip({1}).tril());
#undef CHECK
  expect_derivatives("matmul", [](const Tensors& x) { return Tensors{x[0].matmul(x[1])}; }, {z, w});
  expect_derivatives(
      "addmm",
      [](const Tensors& x) { return Tensors{addmm(x[0].narrow(1, 0, 2), x[0], x[1], C(1, 1), 2)}; },
      {z, w});
  expect_derivatives("mv", [](const Tensors& x) { return Tensors{x[0].mv(x[1].select(1, 0))}; },
                     {z, w});
  expect_derivatives(
      "vdot", [](const Tensors& x) { return Tensors{vdot(x[0][0], x[1].select(1, 1))}; }, {z, w});
  expect_derivatives("linear", [](const Tensors& x) { return Tensors{linear(x[0], x[1].t())}; },
                     {z, w});
  const Tensor size = rand({3}, kDouble).add(1).requires_grad_();
  const Tensor turn = randn({3}, kDouble).requires_grad_();
  expect_derivatives("polar", [](const Tensors& x) { return Tensors{polar(x[0], x[1])}; },
                     {size, turn});
  expect_derivatives("complex", [](const Tensors& x) { return Tensors{complex(x[0], x[1])}; },
                     {size, turn});
}

// A view with another dtype than its base, changed in place.
TEST(Complex, ViewsChangeInPlaceWithTheirHistory) {
  const Tensor z = numbers({2, 3}).requires_grad_();
  const auto real_of_complex = [](const Tensors& x) {
    const Tensor copy = x[0] * 1;
    const Tensor parts = view_as_real(copy);
    parts.select(-1, 1).mul_(parts.select(-1, 0).detach() + 2);
    copy.imag().mul_(3);
    return Tensors{copy * copy, parts.sin()};
  };
  EXPECT_TRUE(gradcheck(
      [](const Tensors& x) {
        const Tensor copy = x[0] * 1;
        copy.imag().mul_(3);
        return Tensors{copy * copy, copy.real().sin()};
      },
      {z}));
  EXPECT_NO_THROW(real_of_complex({z}));
  const Tensor x = randn({3, 2}, kDouble).requires_grad_();
  EXPECT_TRUE(gradcheck(
      [](const Tensors& given) {
        const Tensor copy = given[0] * 1, seen = view_as_complex(copy);
        seen.mul_(C(1, 2));
        return Tensors{copy.sin(), seen * seen};
      },
      {x}));
  EXPECT_TRUE(gradcheck(
      [](const Tensors& given) {
        const Tensor copy = given[0].t() * 1;
        copy.narrow(0, 1, 2).real().copy_(given[0].imag().t().narrow(0, 0, 2));
        return Tensors{copy.exp()};
      },
      {z}));
}

TEST(Complex, GradientsAreConjugates) {
  const Tensor z = tensor({C(1, 2), C(3, -4)}).requires_grad_();
  (z * z.conj()).real().sum().backward();
  expect_close(z.grad(), {C(2, 4), C(6, -8)});
  EXPECT_THROW((z * 2).sum().backward(), TypeError);
  const Tensor x = tensor({2.0, 3.0}, kDouble).requires_grad_();
  (x * C(0, 1)).abs().sum().backward();
  EXPECT_EQ(x.grad().dtype(), kDouble);
  EXPECT_TRUE(allclose(x.grad(), ones({2}, kDouble)));
}

TEST(Complex, RandomNumbersHaveUnitVariance) {
  manual_seed(3);
  const Tensor z = randn({20000}, kComplexFloat);
  EXPECT_NEAR(z.var().item<double>(), 1, 0.05);
  EXPECT_NEAR(z.real().var().item<double>(), 0.5, 0.03);
  EXPECT_LT(rand({100}, kComplexDouble).imag().max().item<double>(), 1);
}

// On a GPU, simulated or not: every row, strides, movement, products and gradients.
TEST(Complex, AGpuComputesWhatTheCpuDoes) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  for (const ScalarType dtype : {kComplexFloat, kComplexDouble}) {
    SCOPED_TRACE(dtype);
    manual_seed(5);
    const Tensor z = randn({5, 7}, dtype), w = randn({5, 7}, dtype);
    const double tolerance = dtype == kComplexFloat ? 1e-4 : 1e-11;
    const auto check = [&](const char* name, auto f) {
      SCOPED_TRACE(name);
      const Tensor here = f(z, w), there = f(z.cuda(), w.cuda());
      EXPECT_TRUE(there.is_cuda());
      EXPECT_EQ(there.dtype(), here.dtype());
      EXPECT_TRUE(
          allclose(there.cpu().to(kComplexDouble), here.to(kComplexDouble), tolerance, tolerance));
      const Tensor turned = f(z.t(), w.t()), on_gpu = f(z.cuda().t(), w.cuda().t());
      EXPECT_TRUE(allclose(on_gpu.cpu().to(kComplexDouble), turned.to(kComplexDouble), tolerance,
                           tolerance));
    };
    using X = const Tensor&;
#define UNARY(name, ...)                                       \
  if constexpr (scalar::Unary<UnaryOp::name>::complex_numbers) \
    check(#name, [](X x, X) { return x.name(); });
#define PREDICATE(...) UNARY(__VA_ARGS__)
#define BINARY(name, ...)                                        \
  if constexpr (scalar::Binary<BinaryOp::name>::complex_numbers) \
    check(#name, [](X x, X y) { return x.name(y); });
#define COMPARISON(...) BINARY(__VA_ARGS__)
#include "gradus/tensor/table/elementwise.def"
    check("a number", [](X x, X) { return x * C(1, 2) + 1; });
    check("broadcast", [](X x, X y) { return x.narrow(0, 1, 1) * y.narrow(1, 2, 1); });
    check("abs", [](X x, X) { return x.abs(); });
    check("angle", [](X x, X) { return x.angle(); });
    check("conj", [](X x, X) { return x.conj(); });
    check("copy", [](X x, X) { return x.t().contiguous(); });
    check("cat", [](X x, X y) { return cat({x, y, x}, 1); });
    check("where", [](X x, X y) { return where(x.real() > 0, x, y); });
    check("where a number", [](X x, X) { return where(x.real() > 0, x, C(1, 2)); });
    check("gather", [](X x, X) { return x.index_select(1, tensor({3, 0, 3}).to(x.device())); });
    check("scatter", [](X x, X) {
      return x.index_fill(0, tensor({3, 1}).to(x.device()), C(1, 2));
    });
    check("add", [](X x, X y) {
      return x.index_add(1, tensor({3, 0, 3}).to(x.device()), y.narrow(1, 0, 3));
    });
    check("masked_select", [](X x, X) { return x.masked_select(x.imag() > 0); });
    check("triangle", [](X x, X) { return x.tril(); });
    check("flip", [](X x, X) { return x.flip({0}); });
    check("nonzero", [](X x, X) { return x.tril().nonzero(); });
    check("sum", [](X x, X) { return x.sum(1); });
    check("mean", [](X x, X) { return x.mean(0); });
    check("prod", [](X x, X) { return x.prod(0); });
    check("cumsum", [](X x, X) { return x.cumsum(1); });
    check("cumprod", [](X x, X) { return x.cumprod(1); });
    check("lerp", [](X x, X y) { return x.lerp(y, y); });
    check("matmul", [](X x, X y) { return x.matmul(y.t()); });
    check("bmm", [](X x, X y) { return x.expand({2, -1, -1}).bmm(y.mH().expand({2, -1, -1})); });
    check("norm", [](X x, X) { return x.norm(); });
    check("var", [](X x, X) { return x.var(0); });
    check("gradients", [](X x, X y) {
      const Tensor leaf = x.detach().clone().requires_grad_();
      (leaf.sin() * y).matmul(leaf.t()).abs().sum().backward();
      return leaf.grad();
    });
  }
}

// Rows without complex numbers refuse them, on tensors and beside numbers.
TEST(Complex, OtherRowsRefuse) {
  const Tensor z = numbers({2});
  const auto refuses = [](const char* name, auto f) {
    SCOPED_TRACE(name);
    EXPECT_THROW(f(), TypeError);
  };
#define PREDICATE(name, ...) \
  if (!scalar::Unary<UnaryOp::name>::complex_numbers) refuses(#name, [&] { z.name(); });
#define UNARY(name, ...)                                                               \
  if (!scalar::Unary<UnaryOp::name>::complex_numbers && UnaryOp::name != UnaryOp::abs) \
    refuses(#name, [&] { z.name(); }), refuses(#name, [&] { z.clone().name##_(); });
#define BINARY(name, ...)                                 \
  if (!scalar::Binary<BinaryOp::name>::complex_numbers) { \
    refuses(#name, [&] { z.name(z); });                   \
    refuses(#name, [&] { z.name(2); });                   \
    refuses(#name, [&] { z.real().name(C(0, 1)); });      \
  }
#define COMPARISON(name, ...) BINARY(name)
#define INTEGER(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
  refuses("abs_", [&] { z.clone().abs_(); });
  refuses("max", [&] { z.max(); });
  refuses("sort", [&] { z.sort(); });
  refuses("argmin", [&] { z.argmin(); });
  refuses("clamp", [&] { z.clamp(0, 1); });
  refuses("softmax", [&] { z.softmax(0); });
  refuses("nansum", [&] { z.nansum(); });
  refuses("logsumexp", [&] { z.logsumexp(0); });
  refuses("nan_to_num", [&] { z.nan_to_num(); });
  refuses("lerp", [&] { z.lerp(z.to(kComplexFloat), 0.5); });
  refuses("inverse", [&] { z.expand({2, 2}).inverse(); });
  refuses("bincount", [&] { z.bincount(); });
  try {
    z.floor();
  } catch (const TypeError& error) {
    EXPECT_STREQ(error.what(),
                 "floor: not implemented for 'ComplexDouble'; compute with real() and imag()");
  }
}

}  // namespace
}  // namespace gradus
