// Group norm, and SiLU after it, with channels last on a GPU: against float64 on the CPU, how many
// launches it takes, and what a step keeps.
#include "gradus/cuda/runtime/stats.h"

#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

class GroupNormTest : public GpuTest {};

constexpr MemoryFormat kChannelsLast = MemoryFormat::ChannelsLast;
double last_unit_of(ScalarType dtype) {
  return dtype == kBFloat16 ? 0x1p-7 : dtype == kHalf ? 0x1p-10 : dtype == kFloat ? 1e-5 : 1e-13;
}
double distance_of(const Tensor& got, const Tensor& expected) {
  return (got.detach().to(kCPU).to(kDouble) - expected.detach()).abs().max().item<double>();
}
Tensor leaf_of(const Tensor& x) { return x.detach().set_requires_grad(true); }

// A norm with random parameters and what follows it, and the same in float64.
struct Norms {
  Norms(int64_t groups, int64_t channels, bool silu, ScalarType parameters, bool affine = true)
      : norm(nn::GroupNormOptions(groups, channels).affine(affine)),
        exact(nn::GroupNormOptions(groups, channels).affine(affine)) {
    net->push_back(norm), in_double->push_back(exact);
    if (silu) net->push_back(nn::SiLU()), in_double->push_back(nn::SiLU());
    exact->to(kDouble);
    const NoGradGuard guard;
    for (size_t i = 0; i < norm->parameters().size(); ++i) {
      nn::init::normal_(norm->parameters()[i]);
      exact->parameters()[i].copy_(norm->parameters()[i]);
    }
    net->to(kCUDA, parameters);
  }
  nn::GroupNorm norm, exact;
  nn::Sequential net, in_double;
};

struct GroupCase {
  std::vector<int64_t> sizes;
  int64_t groups;
};

TEST_F(GroupNormTest, ValuesAndGradientsOfChannelsLast) {
  const GroupCase cases[] = {{{3, 16, 4, 5}, 2},   // vectors of one group
                             {{2, 12, 3, 4}, 4},   // groups of 3 channels
                             {{2, 5, 7, 3}, 5},    // instance norm
                             {{2, 40, 6, 6}, 1},   // one group
                             {{1, 520, 9, 2}, 5},  // several blocks along columns
                             {{2, 8, 2, 3, 4}, 2}};
  for (const auto& [sizes, groups] : cases)
    for (const ScalarType dtype : {kFloat, kHalf, kBFloat16, kDouble})
      for (const bool silu : {false, true}) {
        SCOPED_TRACE(describe(silu ? "silu" : "plain", dtype, std::to_string(sizes[1])));
        const MemoryFormat format =
            sizes.size() == 5 ? MemoryFormat::ChannelsLast3d : kChannelsLast;
        const Tensor x = (3 * randn(sizes) + 4).to(dtype), grad = randn(sizes).to(dtype);
        Norms of(groups, sizes[1], silu, dtype == kDouble ? kDouble : kFloat);
        const Tensor here = leaf_of(x.to(kDouble)), there = leaf_of(x.cuda().contiguous(format));
        const Tensor expected = of.in_double->forward(here);
        expected.backward(grad.to(kDouble));
        const Tensor grad_there = grad.cuda().contiguous(format);
        const int64_t before = cuda::stats().kernel_launches;
        const Tensor got = of.net->forward(there);
        const int64_t middle = cuda::stats().kernel_launches;
        got.backward(grad_there);
        // Sums of columns, of groups, the result; in the backward pass as well.
        EXPECT_EQ(middle - before, 3);
        EXPECT_EQ(cuda::stats().kernel_launches - middle, 3);
        const double unit = last_unit_of(dtype);
        EXPECT_EQ(got.dtype(), dtype);
        EXPECT_TRUE(got.is_contiguous(format));
        EXPECT_TRUE(there.grad().is_contiguous(format));
        EXPECT_LE(distance_of(got, expected), 16 * unit);
        EXPECT_LE(distance_of(there.grad(), here.grad()), 16 * unit);
        const double of_sums = dtype == kDouble ? 1e-11 : 1e-3;
        for (size_t i = 0; i < 2; ++i)
          EXPECT_LE(distance_of(of.norm->parameters()[i].grad(), of.exact->parameters()[i].grad()),
                    of_sums);
      }
}

TEST_F(GroupNormTest, WithoutParametersAndOfALargeMean) {
  const Tensor x = randn({2, 16, 16, 16}) + 1e3, grad = randn({2, 16, 16, 16});
  Norms of(4, 16, true, kFloat, false);
  const Tensor here = leaf_of(x.to(kDouble)), there = leaf_of(x.cuda().contiguous(kChannelsLast));
  const Tensor expected = of.in_double->forward(here), got = of.net->forward(there);
  expected.backward(grad.to(kDouble)), got.backward(grad.cuda());
  EXPECT_LE(distance_of(got, expected), 1e-3);
  EXPECT_LE(distance_of(there.grad(), here.grad()), 1e-3);
}

// As PyTorch's, the result is float32 under autocast. A convolution that follows in a Sequential
// gets it in the half type.
TEST_F(GroupNormTest, UnderAutocast) {
  for (const bool followed : {false, true}) {
    SCOPED_TRACE(followed);
    nn::Sequential net(nn::Conv2d(8, 16, 3), nn::GroupNorm(2, 16), nn::SiLU());
    if (followed) net->push_back(nn::Conv2d(16, 8, 3));
    nn::Sequential exact(nn::Conv2d(8, 16, 3), nn::GroupNorm(2, 16), nn::SiLU());
    if (followed) exact->push_back(nn::Conv2d(16, 8, 3));
    exact->to(kDouble);
    {
      const NoGradGuard guard;
      for (size_t i = 0; i < net->parameters().size(); ++i)
        exact->parameters()[i].copy_(net->parameters()[i]);
    }
    net->to(kCUDA);
    const Tensor x = randn({2, 8, 10, 10});
    const Tensor here = leaf_of(x.to(kDouble)), there = leaf_of(x.cuda().contiguous(kChannelsLast));
    Tensor got;
    {
      const amp::autocast autocast(kCUDA, kBFloat16);
      got = net->forward(there);
    }
    EXPECT_EQ(got.dtype(), followed ? kBFloat16 : kFloat);
    const Tensor expected = exact->forward(here), grad = randn(expected.sizes());
    expected.backward(grad.to(kDouble));
    got.backward(grad.to(got.dtype()).cuda().contiguous(kChannelsLast));
    EXPECT_LE(distance_of(got, expected), 0.05);
    EXPECT_LE(distance_of(there.grad(), here.grad()), 0.05);
    for (size_t i = 0; i < net->parameters().size(); ++i) {
      const Tensor of = exact->parameters()[i].grad();
      EXPECT_LE(distance_of(net->parameters()[i].grad(), of),
                0.02 * of.abs().max().item<double>() + 0.02)
          << i;
    }
  }
}

TEST_F(GroupNormTest, SecondDerivatives) {
  const Tensor x = randn({2, 6, 3, 2}, kDouble).cuda().contiguous(kChannelsLast),
               w = randn({6}, kDouble).cuda(), b = randn({6}, kDouble).cuda();
  nn::GroupNorm norm(3, 6);
  norm->to(kCUDA, kDouble);
  nn::Sequential net(norm, nn::SiLU());
  const auto f = [&](const Tensors& in) {
    norm->weight = in[1], norm->bias = in[2];
    return Tensors{net->forward(in[0])};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {leaf_of(x), leaf_of(w), leaf_of(b)}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {leaf_of(x), leaf_of(w), leaf_of(b)}));
}

// A gradient that lies elsewhere, and one of another type, are taken.
TEST_F(GroupNormTest, GradientsOfAnyLayoutAndType) {
  const Tensor x = randn({2, 16, 4, 4}), grad = randn({2, 32, 4, 4});
  Norms of(2, 16, true, kFloat);
  const Tensor here = leaf_of(x.to(kDouble)), there = leaf_of(x.cuda().contiguous(kChannelsLast));
  of.in_double->forward(here).backward(grad.to(kDouble).narrow(1, 16, 16));
  of.net->forward(there).backward(grad.cuda().contiguous(kChannelsLast).narrow(1, 16, 16));
  EXPECT_LE(distance_of(there.grad(), here.grad()), 1e-4);
}

// Hooks see what they would see of modules that run one by one.
TEST_F(GroupNormTest, HooksKeepModulesApart) {
  Norms of(2, 16, true, kFloat);
  Tensor seen;
  of.norm->register_forward_hook(
      [&](nn::Module&, const Tensor&, const Tensor& y) { return seen = y; });
  const Tensor x = randn({2, 16, 4, 4}), got = of.net->forward(x.cuda().contiguous(kChannelsLast));
  ASSERT_TRUE(seen.defined());
  EXPECT_LE(distance_of(seen, of.exact->forward(x.to(kDouble))), 1e-4);
  EXPECT_LE(distance_of(got, of.in_double->forward(x.to(kDouble))), 1e-4);
}

}  // namespace
}  // namespace gradus
