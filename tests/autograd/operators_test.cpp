// First and second derivatives, by finite differences on every element, of everything that is not a
// row of the elementwise table.
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::CheckedFunction;

Tensor drawn_leaf(IntArrayRef sizes) { return randn(sizes, dtype(kDouble).requires_grad(true)); }

struct Case {
  std::string name;
  CheckedFunction f;
  std::vector<std::vector<int64_t>> shapes;
};

// One tensor in, one out.
Case one(std::string name, std::vector<int64_t> shape, std::function<Tensor(const Tensor&)> f) {
  return {std::move(name), [f](const Tensors& x) { return Tensors{f(x[0])}; }, {shape}};
}
Case two(std::string name, std::vector<int64_t> a, std::vector<int64_t> b,
         std::function<Tensor(const Tensor&, const Tensor&)> f) {
  return {std::move(name), [f](const Tensors& x) { return Tensors{f(x[0], x[1])}; }, {a, b}};
}

std::vector<Case> cases() {
  const Tensor index = tensor({{0, 2, 1}, {1, 1, 0}});
  const Tensor classes = tensor({2, 0, 1});
  std::vector<Case> all{
      one("sum", {2, 3}, [](const Tensor& x) { return x.sum(); }),
      one("sum_dim", {2, 3, 2},
          [](const Tensor& x) {
            return x.sum({0, 2});
          }),
      one("sum_keepdim", {2, 3}, [](const Tensor& x) { return x.sum(1, true); }),
      one("mean", {2, 3}, [](const Tensor& x) { return x.mean(); }),
      one("mean_dim", {2, 3}, [](const Tensor& x) { return x.mean({-1}); }),
      one("amax", {2, 3}, [](const Tensor& x) { return x.amax(1); }),
      one("amin_all", {2, 3}, [](const Tensor& x) { return x.amin(); }),
      one("max", {5}, [](const Tensor& x) { return x.max(); }),
      one("min_scalar", {}, [](const Tensor& x) { return x.min(); }),
      one("max_dim", {3, 4}, [](const Tensor& x) { return std::get<0>(x.max(0)); }),
      one("min_dim", {3, 4}, [](const Tensor& x) { return std::get<0>(x.min(1, true)); }),
      one("log_softmax", {3, 4}, [](const Tensor& x) { return x.log_softmax(1); }),
      one("softmax", {3, 4}, [](const Tensor& x) { return x.softmax(0); }),
      one("sum_to_size", {2, 3, 2},
          [](const Tensor& x) {
            return x.sum_to_size({3, 1});
          }),
      one("view", {2, 6},
          [](const Tensor& x) {
            return x.view({3, -1});
          }),
      one("reshape_copy", {2, 3}, [](const Tensor& x) { return x.t().reshape({6}); }),
      one("flatten", {2, 3, 2}, [](const Tensor& x) { return x.flatten(1); }),
      one("permute", {2, 3, 2},
          [](const Tensor& x) {
            return x.permute({2, 0, -2}) * 2;
          }),
      one("transpose", {2, 3, 2}, [](const Tensor& x) { return x.transpose(0, -1); }),
      one("t", {2, 3}, [](const Tensor& x) { return x.t(); }),
      one("unsqueeze", {2, 3}, [](const Tensor& x) { return x.unsqueeze(-1); }),
      one("squeeze", {1, 3, 1}, [](const Tensor& x) { return x.squeeze(); }),
      one("squeeze_dim", {1, 3, 1}, [](const Tensor& x) { return x.squeeze(-1); }),
      one("expand", {3, 1},
          [](const Tensor& x) {
            return x.expand({2, -1, 4});
          }),
      one("select", {3, 4}, [](const Tensor& x) { return x.select(1, -1); }),
      one("index", {3, 4}, [](const Tensor& x) { return x[1][2]; }),
      one("narrow", {3, 4}, [](const Tensor& x) { return x.narrow(1, 1, 2); }),
      one("clone", {2, 2}, [](const Tensor& x) { return x.t().clone(); }),
      one("contiguous", {2, 3}, [](const Tensor& x) { return x.t().contiguous(); }),
      one("to", {2}, [](const Tensor& x) { return x.to(kDouble, false, true); }),
      one("gather", {3, 3}, [index](const Tensor& x) { return x.gather(0, index); }),
      two("scatter_add", {3, 3}, {2, 3},
          [index](const Tensor& x, const Tensor& src) { return x.scatter_add(0, index, src); }),
      two("scatter_add_part", {3, 3}, {4, 3},
          [index](const Tensor& x, const Tensor& src) { return x.scatter_add(0, index, src); }),
      two("mm", {2, 3}, {3, 4}, [](const Tensor& a, const Tensor& b) { return a.mm(b); }),
      two("mm_transposed", {3, 2}, {4, 3},
          [](const Tensor& a, const Tensor& b) { return a.t().mm(b.t()); }),
      two("dot", {3}, {3}, [](const Tensor& a, const Tensor& b) { return a.dot(b); }),
      two("mv", {2, 3}, {3}, [](const Tensor& a, const Tensor& b) { return a.mv(b); }),
      two("vector_matrix", {3}, {3, 2},
          [](const Tensor& a, const Tensor& b) { return a.matmul(b); }),
      two("vector_batch", {3}, {2, 3, 2},
          [](const Tensor& a, const Tensor& b) { return a.matmul(b); }),
      two("bmm", {2, 2, 3}, {2, 3, 2}, [](const Tensor& a, const Tensor& b) { return a.bmm(b); }),
      two("matmul_batch_matrix", {2, 2, 2, 3}, {3, 2},
          [](const Tensor& a, const Tensor& b) { return a.matmul(b); }),
      two("matmul_broadcast", {2, 1, 2, 3}, {3, 3, 2},
          [](const Tensor& a, const Tensor& b) { return a.matmul(b); }),
      two("matmul_batch_vector", {2, 2, 3}, {3},
          [](const Tensor& a, const Tensor& b) { return a.matmul(b); }),
      two("linear_no_bias", {4, 3}, {2, 3},
          [](const Tensor& x, const Tensor& w) { return linear(x, w); }),
      two("mse_loss", {3, 2}, {3, 2},
          [](const Tensor& a, const Tensor& b) { return mse_loss(a, b); }),
      two("mse_loss_sum", {3, 2}, {3, 2},
          [](const Tensor& a, const Tensor& b) { return mse_loss(a, b, kSum); }),
      two("mse_loss_none", {3, 2}, {3, 2},
          [](const Tensor& a, const Tensor& b) { return mse_loss(a, b, kNone); }),
      one("cross_entropy", {3, 4},
          [classes](const Tensor& x) { return cross_entropy_loss(x, classes); }),
      one("cross_entropy_none", {3, 4},
          [classes](const Tensor& x) { return cross_entropy_loss(x, classes, {}, kNone); }),
      two("cross_entropy_with_options", {2, 3, 2}, {3},
          [](const Tensor& x, const Tensor& w) {
            return cross_entropy_loss(x, tensor({{0, 2}, {1, 0}}), w.square() + 1, kMean, 1, 0.3);
          }),
      two("cross_entropy_of_probabilities", {2, 3, 2}, {2, 3, 2},
          [](const Tensor& x, const Tensor& target) {
            return cross_entropy_loss(x, target, tensor({0.5, 2.0, 1.0}, kDouble), kSum, -100, 0.3);
          }),
      two("nll_loss_with_options", {3, 4}, {4},
          [](const Tensor& x, const Tensor& w) {
            return nll_loss(x, tensor({3, 1, 0}), w.square() + 1, kMean, 1);
          }),
      two("in_place_chain", {2, 2}, {2, 2},
          [](const Tensor& a, const Tensor& b) {
            Tensor y = a * 2;
            y.mul_(b).sin_().add_(a, 3);
            return y;
          }),
      two("one_input_twice", {3}, {3},
          [](const Tensor& a, const Tensor& b) { return a * a + a * b - b / (a * a + 2); }),
  };
  all.push_back({"linear",
                 [](const Tensors& x) { return Tensors{linear(x[0], x[1], x[2])}; },
                 {{4, 3}, {2, 3}, {2}}});
  all.push_back({"linear_3d",
                 [](const Tensors& x) { return Tensors{linear(x[0], x[1], x[2])}; },
                 {{2, 2, 3}, {2, 3}, {2}}});
  all.push_back({"linear_vector",
                 [](const Tensors& x) { return Tensors{linear(x[0], x[1], x[2])}; },
                 {{3}, {2, 3}, {2}}});
  return all;
}

class Operators : public ::testing::TestWithParam<Case> {};

TEST_P(Operators, FirstAndSecondDerivativesMatchFiniteDifferences) {
  manual_seed(static_cast<uint64_t>(::testing::UnitTest::GetInstance()->random_seed()));
  Tensors inputs;
  for (const auto& shape : GetParam().shapes) inputs.push_back(drawn_leaf(shape));
  EXPECT_TRUE(autograd::gradcheck(GetParam().f, inputs));
  EXPECT_TRUE(autograd::gradgradcheck(GetParam().f, inputs));
}

INSTANTIATE_TEST_SUITE_P(All, Operators, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(IsClose, DifferencesOfIntegersDoNotWrapAround) {
  const auto close = [](int64_t x, int64_t y, ScalarType dtype) {
    return isclose(full({1}, x, dtype), full({1}, y, dtype), 0, 2).item<bool>();
  };
  EXPECT_FALSE(close(0, 255, kByte));
  EXPECT_TRUE(close(3, 5, kByte));
  EXPECT_FALSE(close(-128, 127, kChar));
  EXPECT_FALSE(close(3, 6, kLong));
}

TEST(Pow, OfZeroHasNoGradientByItsExponentFromZeroUp) {
  for (const bool number : {false, true}) {
    const Tensor y = tensor({0.0, 2.0, -1.0}, kDouble).requires_grad_();
    (number ? pow(Scalar(0), y) : zeros({3}, kDouble).pow(y)).sum().backward();
    expect_values(y.grad(), {0, 0, -INFINITY}, 0);
  }
  const Tensor y = tensor({0.0, 2.0}, kDouble).requires_grad_();
  pow(Scalar(2.7), y).sum().backward();
  expect_values(y.grad(), {std::log(2.7), 2.7 * 2.7 * std::log(2.7)}, 1e-14);
}

TEST(Hardswish, HasSlopesAtInfinities) {
  for (const bool create_graph : {false, true}) {
    const Tensor x = tensor({INFINITY, -INFINITY, 0.0F, 1.5F, 4.0F}).requires_grad_();
    hardswish(x).sum().backward({}, std::nullopt, create_graph);
    expect_values(x.grad(), {1, 0, 0.5, 1, 1});
  }
}

}  // namespace
}  // namespace gradus
