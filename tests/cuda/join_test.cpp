// cat with channels last on a GPU: the format of results and gradients, of parts of several types.
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

class JoinTest : public GpuTest {};

constexpr MemoryFormat kJoined = MemoryFormat::ChannelsLast;

TEST_F(JoinTest, KeepsChannelsLast) {
  for (const ScalarType dtype : {kFloat, kBFloat16, kHalf, kDouble})
    for (const ScalarType other : {kFloat, dtype})
      for (const int64_t channels : {16, 5}) {
        SCOPED_TRACE(describe("cat", dtype, std::to_string(channels)));
        const Tensor x = randn({2, channels, 3, 4}).to(dtype), y = randn({2, 8, 3, 4}).to(other);
        const auto there = [](const Tensor& t) { return t.cuda().contiguous(kJoined); };
        const Tensor got = cat({there(x), there(y)}, 1), expected = cat({x, y}, 1);
        EXPECT_TRUE(got.is_contiguous(kJoined));
        EXPECT_EQ(got.dtype(), expected.dtype());
        EXPECT_TRUE(got.cpu().equal(expected));
        EXPECT_FALSE(cat({there(x), y.cuda()}, 1).is_contiguous(kJoined));
      }
}

TEST_F(JoinTest, ConvertsSomeChannels) {
  const Tensor x = randn({2, 24, 5, 3}).cuda().contiguous(kJoined);
  for (const ScalarType half : {kBFloat16, kHalf})
    for (const auto& [from, count] : {std::pair(8, 8), std::pair(3, 8), std::pair(0, 5)}) {
      const Tensor some = x.narrow(1, from, count), low = some.to(half);
      EXPECT_TRUE(low.cpu().equal(some.cpu().to(half)));
      const Tensor wide = x.to(half).narrow(1, from, count).to(kFloat);
      EXPECT_TRUE(wide.cpu().equal(low.cpu().to(kFloat)));
    }
}

// As in a U-Net: parts of float32 and bfloat16, whose gradients come as a convolution makes them.
TEST_F(JoinTest, GradientsUnderAutocast) {
  nn::Conv2d conv(nn::Conv2dOptions(16, 8, 3)), exact(nn::Conv2dOptions(16, 8, 3));
  nn::ConvTranspose2d up(nn::ConvTranspose2dOptions(8, 8, 2).stride(2)),
      exact_up(nn::ConvTranspose2dOptions(8, 8, 2).stride(2));
  {
    const NoGradGuard guard;
    exact->to(kDouble), exact_up->to(kDouble);
    for (size_t i = 0; i < 2; ++i) {
      exact->parameters()[i].copy_(conv->parameters()[i]);
      exact_up->parameters()[i].copy_(up->parameters()[i]);
    }
  }
  conv->to(kCUDA), up->to(kCUDA);
  const Tensor x = randn({2, 8, 6, 6}), y = randn({2, 8, 3, 3});
  const auto leaf = [](const Tensor& t) { return t.detach().set_requires_grad(true); };
  const Tensor x_here = leaf(x.to(kDouble)), y_here = leaf(y.to(kDouble)),
               x_there = leaf(x.cuda().contiguous(kJoined)),
               y_there = leaf(y.cuda().contiguous(kJoined));
  const Tensor expected =
      exact->forward(cat({max_pool2d(x_here, 1), exact_up->forward(y_here)}, 1));
  Tensor got;
  {
    const amp::autocast autocast(kCUDA, kBFloat16);
    got = conv->forward(cat({max_pool2d(x_there, 1), up->forward(y_there)}, 1));
  }
  EXPECT_EQ(got.dtype(), kBFloat16);
  const Tensor grad = randn(expected.sizes());
  expected.backward(grad.to(kDouble)), got.backward(grad.to(kBFloat16).cuda());
  const auto expect_near = [](const Tensor& a, const Tensor& b) {
    EXPECT_LE((a.cpu().to(kDouble) - b).abs().max().item<double>(),
              0.02 * b.abs().max().item<double>() + 0.02);
  };
  EXPECT_EQ(x_there.grad().dtype(), kFloat);
  expect_near(got.detach(), expected.detach());
  expect_near(x_there.grad(), x_here.grad());
  expect_near(y_there.grad(), y_here.grad());
  for (size_t i = 0; i < 2; ++i) {
    expect_near(conv->parameters()[i].grad(), exact->parameters()[i].grad());
    expect_near(up->parameters()[i].grad(), exact_up->parameters()[i].grad());
  }
}

}  // namespace
}  // namespace gradus
