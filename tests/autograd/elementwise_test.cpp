// Every row of elementwise.def: its known point, its derivatives by finite differences, first and
// second, and the CPU against a GPU. A new row needs no line here.
#include "gradus/tensor/math/elementwise.h"
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

struct UnaryRow {
  const char* name;
  double lo, hi, x, y;
  Tensor (*f)(const Tensor&);
};
struct BinaryRow {
  const char* name;
  double x_lo, x_hi, y_lo, y_hi, x, y, z;
  bool of_x;  // there is a derivative by x
  Tensor (*f)(const Tensor&, const Tensor&);
  Tensor (*number_right)(const Tensor&, const Scalar&);
  Tensor (*number_left)(const Scalar&, const Tensor&);
};

// The names that GoogleTest shows.
void PrintTo(const UnaryRow& row, std::ostream* out) { *out << row.name; }
void PrintTo(const BinaryRow& row, std::ostream* out) { *out << row.name; }

const std::vector<UnaryRow> kUnary = {
#define UNARY(name, doc, ints, complex, lo, hi, f, df, px, py, ...) \
  {#name, lo, hi, px, py, [](const Tensor& x) { return gradus::name(x); }},
#include "gradus/tensor/table/elementwise.def"
};
const std::vector<BinaryRow> kBinary = {
#define BINARY(name, doc, ints, complex, xlo, xhi, ylo, yhi, f, dx, dy, px, py, pz, ...) \
  {#name,                                                                                \
   xlo,                                                                                  \
   xhi,                                                                                  \
   ylo,                                                                                  \
   yhi,                                                                                  \
   px,                                                                                   \
   py,                                                                                   \
   pz,                                                                                   \
   std::string_view(#dx).substr(0, 11) != "underivable",                                 \
   [](const Tensor& x, const Tensor& y) { return gradus::name(x, y); },                  \
   [](const Tensor& x, const Scalar& y) { return gradus::name(x, y); },                  \
   [](const Scalar& x, const Tensor& y) { return gradus::name(x, y); }},
#include "gradus/tensor/table/elementwise.def"
};

Tensor leaf(IntArrayRef sizes, double lo, double hi) {
  Tensor out = empty(sizes, kDouble);
  for (int64_t i = 0; i < out.numel(); ++i) test::set(out, i, test::real(lo, hi));
  return out.requires_grad_();
}

Tensor leaf_x(const BinaryRow& row, IntArrayRef sizes) {
  return leaf(sizes, row.x_lo, row.x_hi).detach().requires_grad_(row.of_x);
}

void check_derivatives(const autograd::CheckedFunction& f, const Tensors& inputs) {
  EXPECT_TRUE(autograd::gradcheck(f, inputs));
  EXPECT_TRUE(autograd::gradgradcheck(f, inputs));
}

// The layouts that kernels distinguish. The last one is larger than a block and leaves a tail.
const std::vector<std::vector<int64_t>> kShapes = {{},     {5},       {0},      {2, 0, 3},
                                                   {3, 4}, {2, 3, 5}, {1031, 7}};
Tensors layouts(double lo, double hi, ScalarType dtype) {
  Tensors out;
  for (const auto& shape : kShapes) {
    const Tensor x = leaf(shape, lo, hi).detach().to(dtype);
    out.push_back(x);
    if (x.dim() < 2) continue;
    out.push_back(x.transpose(0, -1));
    out.push_back(x.narrow(0, 0, 1).expand(shape));
    if (x.size(1) > 1) out.push_back(x.narrow(1, 1, x.size(1) - 1));
  }
  return out;
}

double tolerance(ScalarType dtype) { return dtype == kFloat ? 1e-5 : 1e-12; }

class UnaryTable : public ::testing::TestWithParam<UnaryRow> {};
class BinaryTable : public ::testing::TestWithParam<BinaryRow> {};

TEST_P(UnaryTable, HasItsKnownPoint) {
  const UnaryRow& row = GetParam();
  for (ScalarType dtype : {kFloat, kDouble})
    expect_values(row.f(full({37}, row.x, dtype)), std::vector<double>(37, row.y),
                  tolerance(dtype));
}

TEST_P(UnaryTable, DerivativesMatchFiniteDifferences) {
  const UnaryRow& row = GetParam();
  const auto f = [&](const Tensors& x) { return Tensors{row.f(x[0])}; };
  for (const auto& shape : std::vector<std::vector<int64_t>>{{}, {7}, {2, 3}})
    check_derivatives(f, {leaf(shape, row.lo, row.hi)});
  const auto transposed = [&](const Tensors& x) { return Tensors{row.f(x[0].t())}; };
  check_derivatives(transposed, {leaf({2, 3}, row.lo, row.hi)});
}

TEST_P(UnaryTable, GradientOfNothingIsEmpty) {
  const Tensor x = empty({0, 3}, dtype(kDouble).requires_grad(true));
  GetParam().f(x).sum().backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
}

TEST_P(UnaryTable, CudaAgreesWithCpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const UnaryRow& row = GetParam();
  for (ScalarType dtype : {kFloat, kDouble}) {
    for (const Tensor& layout : layouts(row.lo, row.hi, dtype)) {
      const Tensor here = layout.clone().requires_grad_();
      const Tensor there = layout.to(kCUDA).requires_grad_();
      // Column by column, where the tensor on the CPU is row-major.
      const Tensor x =
          layout.dim() < 2 ? there : there.transpose(0, 1).contiguous().transpose(0, 1);
      const Tensor y = row.f(here), z = row.f(x);
      expect_values(z, to_vector(y), tolerance(dtype));
      y.sum().backward();
      z.sum().backward();
      expect_values(there.grad(), to_vector(here.grad()), tolerance(dtype));
    }
  }
}

TEST_P(BinaryTable, HasItsKnownPoint) {
  const BinaryRow& row = GetParam();
  for (ScalarType dtype : {kFloat, kDouble}) {
    const Tensor x = full({37}, row.x, dtype), y = full({37}, row.y, dtype);
    const std::vector<double> expected(37, row.z);
    expect_values(row.f(x, y), expected, tolerance(dtype));
    expect_values(row.number_right(x, row.y), expected, tolerance(dtype));
    expect_values(row.number_left(row.x, y), expected, tolerance(dtype));
  }
}

TEST_P(BinaryTable, DerivativesMatchFiniteDifferencesWhereShapesBroadcast) {
  const BinaryRow& row = GetParam();
  const auto f = [&](const Tensors& x) { return Tensors{row.f(x[0], x[1])}; };
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> shapes = {
      {{}, {}}, {{5}, {5}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{}, {2, 2}}, {{2, 1, 2}, {3, 1}}};
  for (const auto& [a, b] : shapes)
    check_derivatives(f, {leaf_x(row, a), leaf(b, row.y_lo, row.y_hi)});
}

TEST_P(BinaryTable, DerivativesMatchFiniteDifferencesBesideNumbers) {
  const BinaryRow& row = GetParam();
  const double a = test::real(row.x_lo, row.x_hi), b = test::real(row.y_lo, row.y_hi);
  if (row.of_x)
    check_derivatives([&](const Tensors& x) { return Tensors{row.number_right(x[0], b)}; },
                      {leaf_x(row, {2, 3})});
  check_derivatives([&](const Tensors& y) { return Tensors{row.number_left(a, y[0])}; },
                    {leaf({2, 3}, row.y_lo, row.y_hi)});
}

TEST_P(BinaryTable, OneOperandAloneMayRequireGrad) {
  const BinaryRow& row = GetParam();
  const auto f = [&](const Tensors& x) { return Tensors{row.f(x[0], x[1])}; };
  const Tensor x = leaf_x(row, {3}), y = leaf({2, 3}, row.y_lo, row.y_hi);
  if (row.of_x)
    check_derivatives(f, {x, y.detach()});
  else
    expect_error<NotImplementedError>(
        [&] { row.f(x.requires_grad_(), y.detach()).sum().backward(); },
        std::string(row.name) + ": the derivative by self is not implemented; detach() it");
  check_derivatives(f, {x.detach(), y});
}

TEST_P(BinaryTable, CudaAgreesWithCpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const BinaryRow& row = GetParam();
  for (ScalarType dtype : {kFloat, kDouble}) {
    for (const Tensor& layout : layouts(row.x_lo, row.x_hi, dtype)) {
      const Tensor other = leaf(layout.sizes(), row.y_lo, row.y_hi).detach().to(dtype);
      const Tensor x = layout.clone().requires_grad_(row.of_x), y = other.clone().requires_grad_();
      const Tensor u = layout.to(kCUDA).requires_grad_(row.of_x);
      const Tensor v = other.to(kCUDA).requires_grad_();
      const Tensor z = row.f(x, y), w = row.f(u, v);
      expect_values(w, to_vector(z), tolerance(dtype));
      z.sum().backward();
      w.sum().backward();
      if (row.of_x) expect_values(u.grad(), to_vector(x.grad()), tolerance(dtype));
      expect_values(v.grad(), to_vector(y.grad()), tolerance(dtype));
      // With an operand of another layout, and with numbers.
      if (layout.dim() >= 2)
        expect_values(row.f(u.transpose(0, 1), v.transpose(0, 1)), to_vector(z.transpose(0, 1)),
                      tolerance(dtype));
      expect_values(row.number_right(u, row.y), to_vector(row.number_right(x, row.y)),
                    tolerance(dtype));
      expect_values(row.number_left(row.x, v), to_vector(row.number_left(row.x, y)),
                    tolerance(dtype));
    }
  }
}

// 1 / 3 has other digits in float32.
TEST(BinaryRows, DerivativesBesideIntegersHaveTheDigitsOfTheGradient) {
  const Tensor x = ones({2}, dtype(kDouble).requires_grad(true));
  (x / tensor(3)).sum().backward();
  EXPECT_EQ(x.grad()[0].item<double>(), 1.0 / 3);
}

INSTANTIATE_TEST_SUITE_P(Rows, UnaryTable, ::testing::ValuesIn(kUnary),
                         [](const auto& test) { return std::string(test.param.name); });
INSTANTIATE_TEST_SUITE_P(Rows, BinaryTable, ::testing::ValuesIn(kBinary),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace gradus
