// Counts and sums that the dtype does not hold, behind means and behind gradients that equal
// elements share.
#include <functional>

#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

constexpr int64_t kMany = 70000;  // float16 ends at 65504, bfloat16 counts to 256

Tensor zero_index() { return zeros({kMany}, kLong); }

struct ShareRow {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
};

// Of many equal elements each has the same share of the gradient, 1 / n, or a magnitude of it.
const std::vector<ShareRow> kExtremes = {
    {"max", [](const Tensor& x) { return x.max(); }},
    {"min", [](const Tensor& x) { return x.min(); }},
    {"amax", [](const Tensor& x) { return x.amax({0}); }},
    {"amin", [](const Tensor& x) { return x.amin(); }},
    {"aminmax", [](const Tensor& x) { return std::get<1>(x.aminmax()); }},
    {"median", [](const Tensor& x) { return x.median(); }},
    {"nanmedian", [](const Tensor& x) { return x.nanmedian(); }},
    {"norm inf", [](const Tensor& x) { return x.norm(HUGE_VAL); }},
    {"norm -inf", [](const Tensor& x) { return x.norm(-HUGE_VAL); }},
    {"matrix norm",
     [](const Tensor& x) {
       return linalg_matrix_norm(x.view({-1, 1}), HUGE_VAL);
     }},
    {"dist", [](const Tensor& x) { return dist(x, zeros_like(x), HUGE_VAL); }},
    {"scatter amax",
     [](const Tensor& x) {
       return zeros({1}, x.options()).scatter_reduce(0, zero_index(), x, "amax", false);
     }},
    {"index amin",
     [](const Tensor& x) {
       return zeros({1}, x.options()).index_reduce(0, zero_index(), x, "amin", false);
     }},
    {"nanmean", [](const Tensor& x) { return x.nanmean(); }},
    {"mean", [](const Tensor& x) { return x.mean(); }},
    {"scatter mean",
     [](const Tensor& x) {
       return zeros({1}, x.options()).scatter_reduce(0, zero_index(), x, "mean", false);
     }},
    {"embedding_bag mean",
     [](const Tensor& x) {
       return F::embedding_bag(arange(kMany, kLong), x.view({-1, 1}),
                               F::EmbeddingBagFuncOptions().offsets(zeros({1}, kLong)).mode(kMean));
     }},
};

TEST(Shares, OfManyEqualElementsAreRightInEveryType) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble})
    for (const ShareRow& row : kExtremes) {
      SCOPED_TRACE(std::string(row.name) + ' ' + toString(dtype));
      const Tensor x = ones({kMany}, TensorOptions(dtype)).requires_grad_();
      const Tensor y = row.f(x);
      EXPECT_EQ(y.item<double>(), 1);
      y.sum().backward();
      const Tensor grad = x.grad().to(kDouble) * kMany;
      const double tolerance = element_size(dtype) == 2 ? 0.01 : 1e-5;
      EXPECT_NEAR(grad.min().item<double>(), 1, tolerance);
      EXPECT_NEAR(grad.max().item<double>(), 1, tolerance);
    }
}

TEST(Shares, OfRowsThatAreLookedUpOftenAreRight) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat}) {
    const Tensor table = ones({2, 1}, TensorOptions(dtype)).requires_grad_();
    F::embedding(zero_index(), table, F::EmbeddingFuncOptions().scale_grad_by_freq(true))
        .sum(kFloat)
        .backward();
    expect_values(table.grad(), {1, 0}, 1e-2);
  }
}

// A sum of numbers that each fit into the type.
TEST(Means, OfSmallTypesDoNotWrapAround) {
  const auto all = [](const Tensor& x, bool of_indices) {
    const Tensor start = full({1}, 100, x.options()), to = zeros({x.size(0)}, kLong);
    return of_indices ? std::vector<Tensor>{start.index_reduce(0, to, x, "mean", false),
                                            start.index_reduce(0, to, x, "mean")}
                      : std::vector<Tensor>{start.scatter_reduce(0, to, x, "mean", false),
                                            start.scatter_reduce(0, to, x, "mean"),
                                            start.clone().scatter_reduce_(0, to, x, "mean")};
  };
  for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat})
    for (const bool of_indices : {false, true}) {
      SCOPED_TRACE(toString(dtype));
      for (const Tensor& y : all(full({300}, 100, TensorOptions(dtype)), of_indices)) {
        EXPECT_EQ(y.dtype(), dtype);
        expect_values(y, {100}, 0);
      }
    }
  expect_values(all(full({2}, 200, TensorOptions(kByte)), false)[0], {200}, 0);
  expect_values(all(ones({300}, kChar), false)[0], {1}, 0);
  expect_values(all(full({3}, -7, TensorOptions(kChar)), false)[1], {19},
                0);  // 79 / 4, rounded down
  expect_values(all(full({1000}, 2000., TensorOptions(kHalf)), false)[0], {2000}, 0);
}

TEST(Sums, OfEinsumAreInInt64AsThoseOfSum) {
  const Tensor x = full({300}, 100, TensorOptions(kByte)), m = x.view({3, 100});
  for (const Tensor& y : {einsum("i->", {x}), einsum("ij->i", {m})[0] * 3,
                          einsum("i,j->", {x, x[0].view({1})}) / 100}) {
    EXPECT_NEAR(y.item<double>(), 30000, 0);
  }
  EXPECT_EQ(einsum("i->", {x}).dtype(), kLong);
  EXPECT_EQ(einsum("ij->j", {m}).dtype(), kLong);
  EXPECT_EQ(einsum("ij->ji", {m}).dtype(), kByte);
  expect_values(einsum("ii->", {ones({300, 300}, kBool)}), {300}, 0);
  expect_values(einsum("ij,k->k", {m, tensor({1, 2})}), {30000, 60000}, 0);
}

}  // namespace
}  // namespace gradus
