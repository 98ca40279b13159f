// Normalisations on the CPU beside the same in float64: rows of any length, far from 0 and with
// outliers.
#include "tests/support.h"

namespace gradus {
namespace {

// Rows about 10, whose every `step`-th element lies far away: those that are read first, or any.
Tensor rows_with_outliers(int64_t rows, int64_t length, int64_t step) {
  const Tensor x = randn({rows, length}, kDouble) + 10 * randn({rows, 1}, kDouble);
  if (step > 0)
    for (int64_t i = 0; i < length; i += step) x.select(1, i).add_(100);
  return x.to(kFloat);
}

// The values and gradients of norm(x, weight, bias) in float32, and those in float64 of the same
// numbers.
template <class Norm>
void expect_as_in_double(const Tensor& x, int64_t weights, const Norm& norm) {
  const Tensor weight = randn({weights}, kFloat), shift = randn({weights}, kFloat);
  const Tensor grad = randn(x.sizes(), kFloat);
  Tensors results[2];
  for (const ScalarType type : {kFloat, kDouble}) {
    Tensors in = {x.to(type), weight.to(type), shift.to(type)};
    for (Tensor& each : in) each = each.detach().clone().requires_grad_();
    const Tensor y = norm(in[0], in[1], in[2]);
    Tensors& of = results[type == kDouble];
    of = autograd::grad({y}, in, {grad.to(type)});
    of.push_back(y.detach());
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    const Tensor exact = results[1][i], apart = (results[0][i].to(kDouble) - exact).abs();
    // A mean is right to a unit of its last place, by which all elements of a row move.
    EXPECT_LE(apart.max().item<double>(), 1e-4 * (1 + exact.abs().max().item<double>())) << i;
  }
}

TEST(CpuNormalize, RowsAreAsInDouble) {
  for (const int64_t length : {7, 8, 15, 16, 17, 49, 64, 65, 196, 384, 513, 1000, 5000})
    for (const int64_t step : {0, 1, 3, 50}) {
      SCOPED_TRACE(std::to_string(length) + " " + std::to_string(step));
      expect_as_in_double(rows_with_outliers(13, length, step), length,
                          [&](const auto& x, const auto& w, const auto& b) {
                            return layer_norm(x, {length}, w, b);
                          });
    }
}

TEST(CpuNormalize, PlanesAreAsInDouble) {
  for (const int64_t size : {1, 3, 7, 8, 14, 23}) {
    SCOPED_TRACE(size);
    const Tensor x = rows_with_outliers(3, 12 * size * size, size).view({3, 12, size, size});
    expect_as_in_double(x, 12, [](const auto& in, const auto& w, const auto& b) {
      return group_norm(in, 4, w, b);
    });
    expect_as_in_double(x, 12, [](const auto& in, const auto& w, const auto& b) {
      return batch_norm(in, w, b, {}, {}, true, 0.1, 1e-5, true);
    });
  }
}

// The few elements about which the moments are taken first may all be outliers.
TEST(CpuNormalize, OutliersCostNoDigitsOfTheVariance) {
  constexpr int64_t kLength = 8000;
  Tensor x = randn({4, kLength}, kFloat);
  for (int64_t i = 0; i < 8; ++i) x.select(1, i * kLength / 8).add_(1e4);
  const Tensor y = layer_norm(x, {kLength}), exact = layer_norm(x.to(kDouble), {kLength});
  EXPECT_LE(((y.to(kDouble) - exact) / exact.abs().max()).abs().max().item<double>(), 1e-6);
}

TEST(CpuNormalize, EqualElementsHaveNoVariance) {
  for (const double value : {0.1, 3.3, 1e30}) {
    const Tensor x = full({2, 100}, value, kFloat);
    EXPECT_TRUE(layer_norm(x, {100}).eq(0).all().item<bool>()) << value;
  }
}

}  // namespace
}  // namespace gradus
