// Layers divided among ranks against the whole ones.
#include "gradus/autograd/engine/engine.h"
#include "gradus/distributed/distributed.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;
using dist::ParallelLinearOptions;

class ModelParallel : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ModelParallel, testing::Values(1, 2, 3, 4));

Tensor gathered(const Tensor& x, int64_t dim) {
  return dist::gather_from_ranks(x.detach().transpose(dim, -1).contiguous()).transpose(dim, -1);
}

TEST_P(ModelParallel, TwoLayersAreThePlainOnesWithTheirGradients) {
  const int size = GetParam();
  for (const bool chained : {true, false})
    for (const bool bias : {true, false})
      dist::spawn_threads(size, [&](int rank) {
        dist::ColumnParallelLinear first(
            ParallelLinearOptions(5, 12).bias(bias).gather_output(!chained));
        dist::RowParallelLinear second(
            ParallelLinearOptions(12, 3).bias(bias).input_is_parallel(chained));
        EXPECT_EQ(first->weight.size(0), 12 / size);
        EXPECT_EQ(second->weight.size(1), 12 / size);
        // The whole layers out of the parts.
        const Tensor w1 = gathered(first->weight, 0).requires_grad_();
        const Tensor w2 = gathered(second->weight, 1).requires_grad_();
        const Tensor b1 = bias ? gathered(first->bias, 0).requires_grad_() : Tensor();
        Tensor x = arange(10, kFloat).view({2, 5}) / 10;
        Tensor plain_x = x.clone().requires_grad_();
        x.requires_grad_();

        const Tensor y = second(tanh(first(x)));
        const Tensor plain =
            linear(tanh(linear(plain_x, w1, b1)), w2, bias ? second->bias.detach() : Tensor());
        EXPECT_TRUE(allclose(y, plain, 1e-5, 1e-6)) << y << plain;
        const Tensor scale = arange(6, kFloat).view({2, 3});
        (y * scale).sum().backward();
        (plain * scale).sum().backward();
        EXPECT_TRUE(allclose(x.grad(), plain_x.grad(), 1e-5, 1e-6)) << x.grad() << plain_x.grad();
        const int64_t part = 12 / size;
        EXPECT_TRUE(
            allclose(first->weight.grad(), w1.grad().narrow(0, rank * part, part), 1e-5, 1e-6));
        EXPECT_TRUE(
            allclose(second->weight.grad(), w2.grad().narrow(1, rank * part, part), 1e-5, 1e-6));
        if (!bias) return;
        EXPECT_TRUE(
            allclose(first->bias.grad(), b1.grad().narrow(0, rank * part, part), 1e-5, 1e-6));
        EXPECT_TRUE(allclose(second->bias.grad(), scale.sum(0)));
      });
}

TEST_P(ModelParallel, GradientsOfGradients) {
  dist::spawn_threads(GetParam(), [&](int) {
    Tensor x = full({3}, 2.0).requires_grad_();
    // y = (n x^2)^2, summed: dy/dx = 4 n^2 x^3, then 12 n^2 x^2, counted once by f.
    const double n = GetParam();
    const Tensor y = dist::reduce_from_ranks(dist::copy_to_ranks(x).square()).square().sum();
    const Tensor first = autograd::grad({y}, {x}, {}, true, true)[0];
    expect_values(first, std::vector<double>(3, 4 * n * n * 8), 1e-5);
    const Tensor second = autograd::grad({first.sum()}, {x})[0];
    expect_values(second, std::vector<double>(3, 12 * n * n * 4), 1e-5);
  });
}

TEST(ModelParallel, RefusesWhatCannotBeShared) {
  dist::spawn_threads(2, [](int) {
    expect_error<ValueError>([] { dist::ColumnParallelLinear(4, 5); },
                             "2 ranks cannot share out_features = 5 evenly");
    expect_error<ValueError>([] { dist::RowParallelLinear(3, 4); }, "in_features = 3");
    expect_error<ValueError>([] { dist::scatter_to_ranks(ones({3})); }, "last dimension = 3");
  });
}

}  // namespace
}  // namespace gradus
