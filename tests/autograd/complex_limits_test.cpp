// Complex numbers at the limits: values of infinite, huge and tiny numbers, zeros with signs, and
// derivatives beside the cuts, at 0 and at all magnitudes.
#include <complex>
#include <set>

#include "gradus/tensor/math/elementwise.h"
#include "tests/support.h"

namespace gradus {
namespace {

using Z = std::complex<double>;

std::vector<Z> parts_of(const Tensor& x) {
  const Tensor here = x.detach().to(kComplexDouble).contiguous();
  return {here.data_ptr<Z>(), here.data_ptr<Z>() + here.numel()};
}

// Equal, or close, or both NaN. Zeros have one sign, but beside NaN, where C99 leaves it open.
bool same_part(double got, double expected, double beside, double tolerance) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  if (got == expected)
    return got != 0 || std::isnan(beside) || std::signbit(got) == std::signbit(expected);
  return std::abs(got - expected) <= tolerance * std::max(std::abs(got), std::abs(expected));
}

TEST(ComplexLimits, AreThoseOfC99) {
  const double inf = INFINITY;
  for (const ScalarType dtype : {kComplexDouble, kComplexFloat}) {
    const bool wide = dtype == kComplexDouble;
    std::vector<Z> list;
    const std::vector<double> sizes = {0,
                                       0.5,
                                       1,
                                       1.5,
                                       2,
                                       30,
                                       inf,
                                       NAN,
                                       wide ? 1e-300 : 1e-37,
                                       wide ? 1e-160 : 1e-25,
                                       wide ? 1e160 : 1e25,
                                       wide ? 1e300 : 1e37,
                                       wide ? 1.5e308 : 3e38,
                                       wide ? 709.9 : 88.9};
    for (const double re : sizes)
      for (const double im : sizes)
        for (int signs = 0; signs < 4; ++signs)
          list.emplace_back(signs & 1 ? -re : re, signs & 2 ? -im : im);
    const Tensor x = tensor(list).to(dtype);
    const std::vector<Z> at = parts_of(x);
    const auto check = [&](const char* name, const Tensor& y, auto f) {
      const std::vector<Z> got = parts_of(y);
      for (size_t i = 0; i < at.size(); ++i) {
        Z expected = f(at[i]);
        if (!wide) expected = Z(std::complex<float>(expected));
        const double tolerance = wide ? 1e-12 : 3e-5;
        EXPECT_TRUE(same_part(got[i].real(), expected.real(), expected.imag(), tolerance) &&
                    same_part(got[i].imag(), expected.imag(), expected.real(), tolerance))
            << name << at[i] << ": " << got[i] << ", expected " << expected;
      }
    };
#define SAME(name) check(#name, x.name(), [](Z z) { return std::name(z); })
    SAME(exp), SAME(log), SAME(log10), SAME(sqrt), SAME(sin), SAME(cos), SAME(tan), SAME(asin);
    SAME(acos), SAME(atan), SAME(sinh), SAME(cosh), SAME(tanh), SAME(asinh), SAME(acosh);
    SAME(atanh);
#undef SAME
    check("log2", x.log2(), [](Z z) {
      const Z y = std::log(z);
      return Z(y.real() / std::log(2.), y.imag() / std::log(2.));
    });
    if (wide)  // the turn of a huge number in float32 is any
      check("exp2", x.exp2(), [](Z z) {
        return std::exp(Z(z.real() * 0.6931471805599453, z.imag() * 0.6931471805599453));
      });
  }
}

TEST(ComplexLimits, OfPowersAndSigmoids) {
  const double inf = INFINITY;
  const auto at = [](Z z) { return tensor({z}); };
  EXPECT_EQ(parts_of(pow(2, at(-inf)))[0], Z(0));
  EXPECT_EQ(parts_of(at(Z(-inf, inf)).exp())[0], Z(0));
  for (const Z z : {Z(-1000, 1), Z(-1000, -2), Z(-inf, 3)})
    EXPECT_EQ(parts_of(at(z).sigmoid())[0], Z(0)) << z;
  EXPECT_EQ(parts_of(at(Z(1000, 1)).sigmoid())[0], Z(1));
  EXPECT_EQ(parts_of(silu(at(Z(-1000, 1))))[0], Z(0));
  EXPECT_EQ(parts_of(at(Z(inf, -inf)).reciprocal())[0], Z(0));
  EXPECT_EQ(parts_of(expm1(at(Z(-inf, inf))))[0], Z(-1));
}

// The derivative of f, which is holomorphic, at each number.
template <class F>
std::vector<Z> slopes(F f, const std::vector<Z>& at) {
  const Tensor x = tensor(at).requires_grad_();
  const Tensor y = f(x);
  y.backward(ones_like(y));
  return parts_of(x.grad().conj());
}

struct Row {
  const char* name;
  Tensor (*f)(const Tensor&);
};
std::vector<Row> complex_rows() {
  std::vector<Row> out;
#define UNARY(name, ...)                                       \
  if constexpr (scalar::Unary<UnaryOp::name>::complex_numbers) \
    out.push_back({#name, [](const Tensor& x) { return gradus::name(x); }});
#include "gradus/tensor/table/elementwise.def"
  out.push_back({"pow(x, 1.3 + 0.2i)", [](const Tensor& x) { return pow(x, Z(1.3, 0.2)); }});
  out.push_back({"pow(x, -0.5)", [](const Tensor& x) { return pow(x, -0.5); }});
  out.push_back({"1 / x", [](const Tensor& x) { return 1 / x; }});
  return out;
}

// The sign of a zero says on which side of a cut a number lies.
TEST(ComplexLimits, DerivativesOnTheAxesAreThoseBeside) {
  std::vector<Z> on, beside;
  const double least = 1e-9;
  for (const double size : {-2.5, -0.6, 0.7, 1.8})
    for (const double zero : {0., -0.}) {
      on.emplace_back(size, zero), beside.emplace_back(size, std::copysign(least, zero));
      on.emplace_back(zero, size), beside.emplace_back(std::copysign(least, zero), size);
    }
  for (const Row& row : complex_rows()) {
    const auto values = parts_of(row.f(tensor(on))), near = parts_of(row.f(tensor(beside)));
    const auto got = slopes(row.f, on), expected = slopes(row.f, beside);
    for (size_t i = 0; i < on.size(); ++i) {
      EXPECT_LE(std::abs(values[i] - near[i]), 1e-6) << row.name << on[i];
      EXPECT_LE(std::abs(got[i] - expected[i]), 1e-6 * (1 + std::abs(expected[i])))
          << row.name << on[i] << ": " << got[i] << ", beside it " << expected[i];
      // Beside the axis it is that of differences along it.
      const Z step = std::abs(on[i].real()) > std::abs(on[i].imag()) ? Z(1e-6) : Z(0, 1e-6);
      const auto ends = parts_of(row.f(tensor({beside[i] + step, beside[i] - step})));
      const Z slope = (ends[0] - ends[1]) / (2. * step);
      EXPECT_LE(std::abs(expected[i] - slope), 1e-5 * (1 + std::abs(slope)))
          << row.name << beside[i] << ": " << expected[i] << ", by differences " << slope;
    }
  }
}

// At magnitudes far from 1 the derivative is that of differences, where these can be told.
TEST(ComplexLimits, DerivativesOfAllMagnitudes) {
  const std::set<std::string> turning = {"exp",  "sin",   "cos",       "tan",  "sinh",
                                         "cosh", "tanh",  "exp2",      "sinc", "sigmoid",
                                         "silu", "expm1", "tanhshrink"};
  for (const Row& row : complex_rows())
    for (const double size : {1e-200, 1e-100, 1e-30, 1e-9, 1e9, 1e30, 1e100, 1e200})
      for (const Z unit : {Z(1, 0), Z(0, 1), Z(0.6, 0.8), Z(-0.8, 0.6), Z(-0.6, -0.8)}) {
        if (size > 1 && turning.contains(row.name)) continue;  // by any angle
        const Z at = unit * size, step = unit * (size * 1e-5);
        const Z got = slopes(row.f, {at})[0];
        const auto ends = parts_of(row.f(tensor({at + step, at - step, at})));
        const Z rise = ends[0] - ends[1], slope = rise / (2. * step);
        if (!(std::abs(rise) > 1e-9 * std::abs(ends[2])) || !std::isfinite(std::abs(slope)))
          continue;
        EXPECT_LE(std::abs(got - slope), 1e-3 * std::abs(slope) + (size < 1 ? 1e-9 : 0))
            << row.name << at << ": " << got << ", by differences " << slope;
      }
}

TEST(ComplexLimits, DerivativesAtZero) {
  const Tensor z = zeros({1}, kComplexDouble).requires_grad_();
  const auto gradient = [&](const Tensor& y) {
    z.mutable_grad().reset();
    (y.is_complex() ? y.real().sum() + 2 * y.imag().sum() : y.sum()).backward();
    return parts_of(z.grad())[0];
  };
  for (const Tensor& y : {sgn(z), z.abs(), z.angle(), z.norm(), z.pow(2), z.pow(Z(2, 1)), z * z})
    EXPECT_EQ(gradient(y), Z(0)) << y.grad_fn()->name();
  for (const Tensor& y : {sin(z), tan(z), asin(z), atan(z), sinh(z), tanh(z), asinh(z), atanh(z),
                          log1p(z), expm1(z), exp(z), z * 1})
    EXPECT_LE(std::abs(gradient(y) - Z(1, 2)), 1e-15) << y.grad_fn()->name();
}

TEST(ComplexLimits, DirectionsOfTinyAndHugeNumbers) {
  for (const double size : {1e-200, 1e-30, 1., 1e30, 1e200}) {
    const Tensor z = tensor({Z(3 * size, 4 * size)}).requires_grad_();
    sgn(z).imag().sum().backward();
    const Z of_sgn = parts_of(z.grad())[0] * size;  // of y / |z|
    EXPECT_LE(std::abs(of_sgn - Z(-0.096, 0.072)), 1e-12) << size;
    z.mutable_grad().reset();
    z.angle().sum().backward();
    EXPECT_LE(std::abs(parts_of(z.grad())[0] * size - Z(-0.16, 0.12)), 1e-12) << size;
  }
}

// pytorch/pytorch#89903, #95111; PyTorch 2.15's numbers.
TEST(ComplexLimits, PowersOfNegativeNumbersStayOnTheirSide) {
  const auto gradient = [](const Tensor& given, auto f) {
    const Tensor x = given.clone().requires_grad_(), y = f(x);
    (y.real().sum() + 2 * y.imag().sum()).backward();
    return parts_of(x.grad())[0];
  };
  const auto c = [](Z z) { return tensor({z}); };
  const auto r = [](double x) { return tensor({x}, kDouble); };
  const auto near = [](Z got, Z expected) { EXPECT_LE(std::abs(got - expected), 1e-5) << got; };
  near(gradient(r(0.5), [&](const Tensor& y) { return pow(c(-1), y); }), -3.14159265);
  near(gradient(c({1, 1}), [&](const Tensor& y) { return pow(c(-2), y); }), {-0.366877, 0.50196});
  near(gradient(r(-2), [&](const Tensor& x) { return pow(x, c({1, 1})); }), 0.127338);
  near(gradient(c({1, 1}), [&](const Tensor& y) { return pow(r(-2), y); }), {-0.366877, 0.50196});
  near(gradient(r(0.5), [&](const Tensor& y) { return pow(Scalar(Z(-2, 0)), y); }), -2.48237);
  near(gradient(c({1, 1}), [&](const Tensor& y) { return pow(Scalar(-2.0), y); }),
       {-0.366877, 0.50196});
}

TEST(ComplexLimits, ProductsConjugateAsInPyTorch) {
  const Tensor x = tensor({Z(1, 2), Z(0, 1)}), y = tensor({Z(3, -1), Z(2, 2)});
  for (const Tensor& conjugated : {vdot(x, y), linalg_vecdot(x, y), linalg::vecdot(x, y)})
    EXPECT_EQ(parts_of(conjugated)[0], Z(3, -9));
  Tensor out = zeros({}, kComplexDouble);
  EXPECT_EQ(parts_of(linalg_vecdot_out(out, x, y))[0], Z(3, -9));
  for (const Tensor& plain : {dot(x, y), inner(x, y), x.matmul(y), tensordot(x, y, {0}, {0})})
    EXPECT_EQ(parts_of(plain)[0], Z(3, 7));
}

TEST(ComplexLimits, LossesRefuseComplexNumbers) {
  const Tensor x = tensor({Z(0, 1), Z(1, 1)}), y = tensor({Z(1, 0), Z(0, 2)});
  namespace F = nn::functional;
  EXPECT_THROW(F::mse_loss(x, y), TypeError);
  EXPECT_THROW(F::mse_loss(x, y, F::MSELossFuncOptions(kNone)), TypeError);
  EXPECT_THROW(mse_loss(x, y, kSum), TypeError);
  EXPECT_THROW(F::smooth_l1_loss(x, y), TypeError);
  EXPECT_THROW(F::huber_loss(x, y), TypeError);
  EXPECT_THROW(F::soft_margin_loss(x, y), TypeError);
  EXPECT_THROW(F::hinge_embedding_loss(x, y), TypeError);
  EXPECT_THROW(F::poisson_nll_loss(x, y), TypeError);
  EXPECT_THROW(F::binary_cross_entropy_with_logits(x, y), TypeError);
  EXPECT_THROW(F::kl_div(x, y), TypeError);
  EXPECT_THROW(F::margin_ranking_loss(x, y, y), TypeError);
  EXPECT_LE(std::abs(F::l1_loss(x, y).item<double>() - std::sqrt(2.)), 1e-12);  // as in PyTorch
}

}  // namespace
}  // namespace gradus
