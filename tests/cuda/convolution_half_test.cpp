// Convolutions of half types on a GPU: no operand is converted, sums are float32, one rounding.
#include "gradus/compat/ATen/Context.h"
#include "gradus/cuda/ops/convolution.h"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/cuda/runtime/stats.h"
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"
#include "tests/windows.h"

namespace gradus {
namespace {

using namespace test;

class HalfConvolutionTest : public GpuTest {
 protected:
  void TearDown() override {
    if (cuda::is_available()) cuda::set_convolution_kernel("automatic");
    detail::allow_tf32_convolutions(false);
  }
};

// Random elements with channels in the order of memory that is asked for, or with gaps.
enum class Order { first, last, gappy };
Tensor random_image(ScalarType dtype, const Dims& sizes, Order order) {
  const Tensor memory = random_memory(dtype, 2 * numel_of(sizes), {-1, 1});
  Dims strides = contiguous_strides(sizes);
  if (order == Order::gappy)
    for (int64_t& stride : strides) stride *= 2;
  if (order == Order::last && sizes.size() == 4)
    strides = {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]};
  return raw::as_strided(memory, sizes, strides, 0);
}

// The same elements, with the same strides, on the GPU.
Tensor there(const Tensor& x) {
  if (!x.defined()) return x;
  const int64_t elements = static_cast<int64_t>(x.impl().storage->nbytes()) / x.element_size();
  const Tensor all = raw::as_strided(x, {elements}, {1}, 0);
  return raw::as_strided(raw::to(all, Device(kCUDA)), x.impl().sizes, x.impl().strides,
                         x.storage_offset());
}

// The gradients of weight and bias, as sums that are not rounded. a: the gradient of the output.
void expect_wide_gradients(const Convolution& s, const Tensor& a, const Tensor& b,
                           const Tensor& expected) {
  const double unit = 1e-6 * (8 + terms_of(ConvolutionPass::wgrad, s));
  const Tensor got = raw::convolution("conv", ConvolutionPass::wgrad, s, there(a), there(b),
                                      Tensor(), kFloat),
               sums = raw::empty({s.filters}, kFloat, Device(kCUDA)),
               beside = raw::convolution_sums("conv", s, there(a), there(b), sums);
  EXPECT_EQ(got.dtype(), kFloat);
  EXPECT_EQ(beside.dtype(), kFloat);
  expect_close(got, expected, unit, "in float32");
  expect_close(beside, expected, unit, "in float32, beside the sums");
  const Tensor of_bias = a.to(kDouble).flatten(2).sum(IntArrayRef{0, 2});
  expect_close(sums, of_bias, unit, "the sums in float32");
}

// The gradient of the input, and another tensor: lying as it does, and in another order. Where no
// kernel is named, one that adds may be chosen, which adds its terms in another order: results
// differ by a unit of the last place.
void expect_sum(const Convolution& s, const Tensor& a, const Tensor& b, const Tensor& alone,
                Order order) {
  const ScalarType dtype = a.scalar_type();
  const double unit = dtype == kBFloat16 ? 0x1p-7
                      : dtype == kHalf   ? 0x1p-10
                                         : 1e-5,
               most = alone.abs().max().to(kDouble).item<double>();
  for (const Order of : {order, order == Order::first ? Order::last : Order::first}) {
    const Tensor other = there(random_image(a.scalar_type(), Dims(alone.impl().sizes), of));
    const Tensor expected = raw::to(alone + other, Device(kCPU));
    const Tensor sum =
        raw::convolution("conv", ConvolutionPass::dgrad, s, there(a), there(b), other);
    EXPECT_EQ(sum.strides(), alone.strides());
    expect_close(sum, expected, cuda::convolution_kernel() == "automatic" ? unit : 0,
                 "with another gradient", most);
  }
}

void expect_convolution(const Convolution& s, ScalarType dtype, Order order) {
  SCOPED_TRACE(test::describe(s));
  for (const ConvolutionPass part : kParts) {
    const Tensor a = random_image(dtype, sizes_of(first_operand(part), s), order);
    const Tensor b = random_image(dtype, sizes_of(second_operand(part), s), order);
    const Tensor bias =
        part == ConvolutionPass::fprop ? random_memory(dtype, s.filters, {-1, 1}) : Tensor();
    if (dtype == kFloat)  // what TF32 holds
      for (const Tensor& x : {a, b}) raw::copy_(x, raw::to(raw::to(x, kBFloat16), kFloat));
    const auto wide = [](const Tensor& t) { return t.defined() ? raw::to(t, kDouble) : t; };
    const Tensor expected = raw::convolution("conv", part, s, wide(a), wide(b), wide(bias));
    const auto make = [&] {
      return raw::convolution("conv", part, s, there(a), there(b), there(bias));
    };
    const Tensor got = make();
    EXPECT_EQ(got.dtype(), dtype);
    // Half a unit of the last place of the result, and roundings to float of its terms.
    const double unit = dtype == kBFloat16 ? 0x1p-8 : dtype == kHalf ? 0x1p-11 : 0x1p-22;
    const Tensor error = (got.to(kCPU).to(kDouble) - expected).abs();
    const Tensor most = expected.abs() * (1.01 * unit) + 1e-6 * (8 + terms_of(part, s));
    EXPECT_LE((error - most).max().item<double>(), 0)
        << "pass " << static_cast<int>(part) << ", error " << error.max().item<double>();
    expect_close(make(), raw::to(got, Device(kCPU)), 0, "the same bits again");
    if (part == ConvolutionPass::dgrad) expect_sum(s, a, b, got, order);
    if (part == ConvolutionPass::wgrad && dtype != kFloat) expect_wide_gradients(s, a, b, expected);
  }
}

Convolution images(int64_t batch, int64_t channels, int64_t filters, WindowDim dim) {
  Convolution s;
  s.batch = batch, s.channels = channels, s.filters = filters;
  dim.out = (dim.in + 2 * dim.padding - (dim.kernel - 1) * dim.dilation - 1) / dim.stride + 1;
  for (int d = 1; d < kSpatial; ++d) s.dim[d] = dim;
  return s;
}

TEST_F(HalfConvolutionTest, RandomShapesInEveryOrder) {
  constexpr Order kOrders[] = {Order::first, Order::last, Order::gappy};
  for (int i = 0; i < (kSimulated ? 9 : 60); ++i)
    expect_convolution(random_convolution(i % 2 == 0 ? 12 : 4, 7), i % 2 == 0 ? kBFloat16 : kHalf,
                       kOrders[i % 3]);
}

// Whole units of channels, several steps, tiles and taps; strides, dilation and groups.
TEST_F(HalfConvolutionTest, ChannelsInWholeUnits) {
  expect_convolution(images(2, 16, 24, {7, 1, 3, 1, 1, 1}), kBFloat16, Order::last);
  expect_convolution(images(1, 40, 72, {6, 1, 3, 2, 1, 1}), kHalf, Order::last);
  expect_convolution(images(2, 8, 8, {9, 1, 3, 3, 2, 2}), kBFloat16, Order::first);
  expect_convolution(images(3, 32, 64, {5, 1, 1, 2, 0, 1}), kHalf, Order::last);
  Convolution grouped = images(2, 32, 16, {6, 1, 3, 2, 1, 1});
  grouped.groups = 2;
  expect_convolution(grouped, kBFloat16, Order::last);
  grouped.channels = 6, grouped.filters = 4;  // no whole units
  expect_convolution(grouped, kBFloat16, Order::first);
}

// Each tile by name, with rows and columns beyond one of it, and depths that are cut into parts.
TEST_F(HalfConvolutionTest, EveryTile) {
  for (const char* const name : {"large_tiles", "narrow_tiles", "small_tiles"}) {
    SCOPED_TRACE(name);
    cuda::set_convolution_kernel(name);
    expect_convolution(images(1, 72, 136, {12, 1, 1, 1, 0, 1}), kBFloat16, Order::last);
    expect_convolution(images(2, 8, 16, {12, 1, 3, 2, 1, 1}), kHalf, Order::last);
  }
  cuda::set_convolution_kernel("automatic");
  expect_convolution(images(1, 3, 64, {14, 1, 7, 2, 3, 1}), kBFloat16, Order::first);
  expect_convolution(images(1, 136, 8, {4, 1, 3, 1, 1, 1}), kHalf, Order::last);
  if (kSimulated) return;
  expect_convolution(images(8, 64, 64, {32, 1, 3, 1, 1, 1}), kBFloat16, Order::last);
  expect_convolution(images(8, 128, 256, {16, 1, 3, 2, 1, 1}), kHalf, Order::last);
  expect_convolution(images(4, 512, 512, {4, 1, 3, 1, 1, 1}), kBFloat16, Order::last);
}

// Lines of their windows serve as channels; of half types where steps across are even.
TEST_F(HalfConvolutionTest, FewChannels) {
  constexpr Order kOrders[] = {Order::first, Order::last, Order::gappy};
  constexpr ScalarType kTypes[] = {kBFloat16, kHalf, kFloat};
  std::vector<const char*> kernels = {"automatic", "large_tiles", "narrow_tiles", "small_tiles"};
  if (cuda::has_wgmma()) kernels.push_back("wgmma");
  detail::allow_tf32_convolutions(true);
  for (int i = 0; i < (kSimulated ? 9 : 120); ++i) {
    Convolution s;
    s.batch = pick(1, 3), s.channels = pick(1, 5), s.filters = pick(1, 40);
    for (int d = i % 8 ? 1 : 2; d < kSpatial; ++d) {
      WindowDim& w = s.dim[d];
      const bool across = d + 1 == kSpatial;
      w.kernel = pick(1, 8), w.stride = pick(1, 3) * (across && i % 3 < 2 ? 2 : 1);
      w.dilation = across && i % 4 ? 1 : pick(1, 2), w.padding = pick(0, 4);
      const int64_t extent = (w.kernel - 1) * w.dilation + 1;
      w.in = std::max<int64_t>(extent - 2 * w.padding, 1) + pick(0, 20);
      w.out = (w.in + 2 * w.padding - extent) / w.stride + 1;
    }
    cuda::set_convolution_kernel(kernels[static_cast<size_t>(i) % kernels.size()]);
    expect_convolution(s, kTypes[i % 3], kOrders[i / 3 % 3]);
  }
}

// Rows, columns and channels beyond a tile or box of it; taps, strides and gaps in every direction.
TEST_F(HalfConvolutionTest, WgmmaTakesEveryPass) {
  if (!cuda::has_wgmma()) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  cuda::set_convolution_kernel("wgmma");
  detail::allow_tf32_convolutions(true);
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat}) {
    expect_convolution(images(2, 64, 64, {8, 1, 1, 1, 0, 1}), dtype, Order::last);
    expect_convolution(images(3, 64, 96, {13, 1, 3, 1, 1, 1}), dtype, Order::last);
    expect_convolution(images(2, 128, 200, {14, 1, 3, 2, 1, 1}), dtype, Order::first);
    expect_convolution(images(1, 32, 64, {21, 1, 7, 2, 3, 1}), dtype, Order::last);
    expect_convolution(images(5, 8, 16, {10, 1, 5, 3, 2, 1}), dtype, Order::gappy);
    expect_convolution(images(2, 64, 72, {19, 1, 3, 1, 2, 2}), dtype, Order::last);
    expect_convolution(images(9, 256, 512, {7, 1, 3, 1, 1, 1}), dtype, Order::last);
    expect_convolution(images(3, 160, 320, {9, 1, 1, 2, 0, 1}), dtype, Order::last);
    Convolution uneven = images(2, 72, 136, {15, 1, 3, 1, 1, 1});
    WindowDim& down = uneven.dim[kSpatial - 2];
    down = {11, 0, 1, 2, 0, 1}, down.out = 6;
    expect_convolution(uneven, dtype, Order::last);
    for (int i = 0; i < 10; ++i) {
      Convolution random = random_convolution(4, 9);
      random.channels *= 8, random.filters *= 8, random.groups = 1;
      expect_convolution(random, dtype, Order::last);
    }
  }
}

// The kernel adds to another gradient itself, whichever of its ways it takes. Places that no window
// reaches are left alone.
TEST_F(HalfConvolutionTest, WgmmaAddsInTheSameLaunch) {
  if (!cuda::has_wgmma()) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  cuda::set_convolution_kernel("wgmma");
  detail::allow_tf32_convolutions(true);
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat})
    for (const auto& [channels, filters, stride] :
         {std::tuple(24, 136, 1), std::tuple(136, 72, 1), std::tuple(264, 72, 2)}) {
      const Convolution s = images(5, channels, filters, {12, 1, 1, stride, 0, 1});
      const auto random = [&](const Dims& sizes) {
        return there(random_image(dtype, sizes, Order::last));
      };
      const Tensor a = random(sizes_of(first_operand(ConvolutionPass::dgrad), s)),
                   b = random(sizes_of(second_operand(ConvolutionPass::dgrad), s)),
                   other = random({5, channels, 12, 12});
      const auto launches = [&](const Tensor& added) {
        const int64_t before = cuda::stats().kernel_launches;
        const Tensor out = raw::convolution("conv", ConvolutionPass::dgrad, s, a, b, added);
        EXPECT_EQ(added.defined(), out.is_same(other));
        return cuda::stats().kernel_launches - before;
      };
      const int64_t phases = stride * stride;
      EXPECT_EQ(launches(other) + phases - 1, launches({})) << dtype << ", " << channels;
    }
}

// As where a residual block begins.
TEST_F(HalfConvolutionTest, AGradientOfAConvolutionIsAddedToThoseOfOtherUses) {
  constexpr MemoryFormat kFormat = MemoryFormat::ChannelsLast;
  const auto last = [](const Tensor& x) { return x.contiguous(kFormat); };
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat})
    for (const int64_t kernel : {1, 3}) {
      const Tensor w = last(randn({16, 16, kernel, kernel}).to(dtype).cuda()),
                   grad = last(randn({2, 16, 6, 6}).to(dtype).cuda());
      const auto input = [&, x = last(randn({2, 16, 6, 6}).to(dtype).cuda())] {
        return x.clone().set_requires_grad(true);
      };
      const auto apply = [&](const Tensor& x) { return conv2d(x, w, {}, 1, kernel / 2); };
      const Tensor alone = input(), x = input(), hooked = input(), asked = input();
      apply(alone).backward(grad);
      const Tensor expected = alone.grad() + grad;
      (apply(x) + x).backward(grad);
      EXPECT_TRUE(x.grad().equal(expected)) << kernel;
      EXPECT_TRUE(x.grad().is_contiguous(kFormat));
      Tensor seen;
      hooked.register_hook([&](const Tensor& whole) { seen = whole; });
      (apply(hooked) + hooked).backward(grad);
      EXPECT_TRUE(seen.equal(expected)) << kernel;
      const Tensors got = autograd::grad({apply(asked) + asked}, {asked}, {grad});
      EXPECT_TRUE(got[0].equal(expected)) << kernel;
    }
}

TEST_F(HalfConvolutionTest, NaNAndInfinityStay) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor x = zeros({1, 8, 3, 3}, kBFloat16);
  x[0][2][0][0] = infinity;
  x[0][5][2][2] = std::nan("");
  const Tensor y = conv2d(x.cuda(), ones({8, 8, 1, 1}, kBFloat16).cuda()).to(kCPU);
  EXPECT_EQ(y[0][1][0][0].item<double>(), infinity);
  EXPECT_TRUE(std::isnan(y[0][7][2][2].item<double>()));
  EXPECT_EQ(y[0][3][1][1].item<double>(), 0);
}

// Small convolutions of contiguous tensors, which no type copies or pads first.
TEST_F(HalfConvolutionTest, SmallOnesAreDirectInEveryType) {
  const auto run = [](ConvolutionPass part, const Convolution& s, ScalarType dtype) {
    const Tensor a = random_image(dtype, sizes_of(first_operand(part), s), Order::first);
    const Tensor b = random_image(dtype, sizes_of(second_operand(part), s), Order::first);
    const Tensor first = there(a), second = there(b);
    const int64_t before = cuda::stats().kernel_launches;
    raw::convolution("conv", part, s, first, second);
    return cuda::stats().kernel_launches - before;
  };
  Convolution grouped = images(3, 6, 9, {8, 1, 3, 1, 1, 1});
  grouped.groups = 3;
  for (const Convolution& s :
       {images(4, 1, 6, {28, 1, 5, 1, 2, 1}), images(3, 6, 16, {14, 1, 5, 1, 0, 1}),
        images(2, 3, 8, {40, 1, 3, 2, 1, 1}), images(2, 7, 5, {9, 1, 3, 1, 2, 2}), grouped}) {
    for (const ScalarType dtype : {kBFloat16, kHalf}) expect_convolution(s, dtype, Order::first);
    for (const ConvolutionPass part : kParts) {
      const int64_t of_float = run(part, s, kFloat), sum = part == ConvolutionPass::wgrad;
      EXPECT_LE(run(part, s, kBFloat16), of_float + sum) << static_cast<int>(part);
      EXPECT_LE(run(part, s, kHalf), of_float + sum) << static_cast<int>(part);
      detail::allow_tf32_convolutions(true);
      EXPECT_EQ(run(part, s, kFloat), of_float) << static_cast<int>(part);
      detail::allow_tf32_convolutions(false);
    }
  }
}

// Images and weights of three channels are padded by one launch each, beside the product.
TEST_F(HalfConvolutionTest, FirstLayersArePaddedInOneLaunch) {
  const Convolution s = images(2, 3, 16, {14, 1, 3, 2, 1, 1});
  const Tensor x = there(random_image(kBFloat16, sizes_of(first_operand(ConvolutionPass::fprop), s),
                                      Order::last)),
               w = there(random_image(
                   kBFloat16, sizes_of(second_operand(ConvolutionPass::fprop), s), Order::last));
  const int64_t before = cuda::stats().kernel_launches;
  raw::convolution("conv", ConvolutionPass::fprop, s, x, w, Tensor());
  EXPECT_EQ(cuda::stats().kernel_launches - before, 3);
}

// A group for each channel.
Convolution depthwise(int64_t batch, int64_t channels, WindowDim dim) {
  Convolution s = images(batch, channels, channels, dim);
  s.groups = channels;
  return s;
}

// Windows with kernels of their own, and others; of every type.
TEST_F(HalfConvolutionTest, DepthwiseInEveryType) {
  Convolution line = depthwise(2, 3, {40, 1, 9, 2, 4, 1}),
              uneven = depthwise(2, 5, {9, 1, 3, 1, 1, 1});
  line.spatial = 1, line.dim[kSpatial - 2] = {};
  uneven.dim[kSpatial - 1] = {11, 9, 3, 1, 0, 1};
  for (const Convolution& s :
       {depthwise(3, 6, {13, 1, 3, 1, 1, 1}), depthwise(2, 4, {6, 1, 5, 1, 2, 1}),
        depthwise(2, 33, {7, 1, 7, 1, 3, 1}), depthwise(2, 2, {8, 1, 3, 1, 4, 1}),
        depthwise(70, 2, {5, 1, 3, 1, 0, 1}), depthwise(2, 5, {14, 1, 3, 2, 1, 1}),
        depthwise(2, 5, {13, 1, 5, 2, 2, 1}), depthwise(3, 2, {12, 1, 7, 2, 0, 1}),
        depthwise(2, 3, {9, 1, 3, 2, 3, 1}), depthwise(1, 3, {15, 1, 3, 1, 2, 2}),
        depthwise(2, 3, {10, 1, 4, 3, 2, 1}), line, uneven})
    for (const ScalarType dtype : {kFloat, kBFloat16, kHalf})
      for (const Order order : {Order::first, Order::last, Order::gappy})
        expect_convolution(s, dtype, order);
}

// Channels that lie last have kernels of their own, without copies: more bands of rows than one,
// more columns and channels than a block has, runs and parts of the weight's gradient.
TEST_F(HalfConvolutionTest, DepthwiseWithChannelsLast) {
  Convolution uneven = depthwise(2, 12, {9, 1, 3, 2, 1, 1}), steps = uneven;
  uneven.dim[kSpatial - 1] = {22, 11, 3, 2, 0, 1};
  uneven.dim[kSpatial - 1].out = (22 - 3) / 2 + 1;
  steps.dim[kSpatial - 1] = {9, 9, 3, 1, 1, 1};  // one way only: no kernel of its own
  for (const Convolution& s :
       {depthwise(3, 4, {7, 1, 3, 1, 1, 1}), depthwise(2, 8, {16, 1, 3, 1, 0, 1}),
        depthwise(2, 36, {9, 1, 3, 1, 2, 1}), depthwise(1, 148, {8, 1, 3, 1, 1, 1}),
        depthwise(30, 16, {4, 1, 3, 1, 1, 1}), depthwise(2, 16, {16, 1, 3, 2, 1, 1}),
        depthwise(3, 24, {7, 1, 3, 2, 0, 1}), depthwise(2, 40, {15, 1, 3, 2, 2, 1}),
        depthwise(2, 4, {1, 1, 3, 1, 1, 1}), depthwise(2, 8, {2, 1, 3, 2, 1, 1}), uneven, steps})
    for (const ScalarType dtype : {kFloat, kBFloat16, kHalf})
      expect_convolution(s, dtype, Order::last);
  // More bands than the blocks of a wave take at once.
  expect_convolution(depthwise(9, kSimulated ? 4 : 33792, {5, 1, 3, 2, 1, 1}), kBFloat16,
                     Order::last);
  for (int i = 0; i < (kSimulated ? 6 : 40); ++i) {
    const int64_t stride = pick(1, 2);
    expect_convolution(
        depthwise(pick(1, 9), 4 * pick(1, 60), {pick(3, 24), 1, 3, stride, pick(0, 2), 1}),
        i % 2 == 0 ? kBFloat16 : kFloat, Order::last);
  }
}

// A pass is one launch, that of the weight's gradient two.
TEST_F(HalfConvolutionTest, DepthwiseWithChannelsLastTakesFewLaunches) {
  for (const int64_t stride : {1, 2}) {
    const Convolution s = depthwise(2, 32, {10, 1, 3, stride, 1, 1});
    for (const ConvolutionPass part : kParts) {
      const Tensor a = there(
                       random_image(kBFloat16, sizes_of(first_operand(part), s), Order::last)),
                   b = there(
                       random_image(kBFloat16, sizes_of(second_operand(part), s), Order::last));
      const int64_t before = cuda::stats().kernel_launches;
      raw::convolution("conv", part, s, a, b, Tensor());
      EXPECT_EQ(cuda::stats().kernel_launches - before, part == ConvolutionPass::wgrad ? 2 : 1);
    }
  }
}

// Operands are rounded to 11 bits of fraction and sign each, where that is allowed; else not.
TEST_F(HalfConvolutionTest, Tf32WhereItIsAllowed) {
  auto& context = globalContext();
  EXPECT_FALSE(context.allowTF32CuDNN());
  const Tensor x = randn({2, 20, 7, 5}), w = randn({24, 20, 3, 3}), b = randn({24});
  const auto error = [&](MemoryFormat format) {
    const auto run = [&](const auto& there) {
      const Tensor input = there(x).set_requires_grad(true),
                   weight = there(w).set_requires_grad(true);
      const Tensor y = conv2d(input, weight, there(b), 2, 1);
      (y * y).sum().backward();
      return std::vector<Tensor>{y.detach(), input.grad(), weight.grad()};
    };
    const auto exact = run([](const Tensor& t) { return t.to(kDouble); });
    const auto got =
        run([&](const Tensor& t) { return (t.dim() == 4 ? t.clone(format) : t).to(kCUDA); });
    double most = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(format == MemoryFormat::Contiguous || got[i].is_contiguous(format)) << i;
      const Tensor apart = (got[i].to(kCPU).to(kDouble) - exact[i]).norm() / exact[i].norm();
      most = std::max(most, apart.item<double>());
    }
    return most;
  };
  for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    EXPECT_LE(error(format), 1e-6);
    context.setAllowTF32CuDNN(true);
    EXPECT_TRUE(context.allowTF32CuDNN());
    const double rounded = error(format);
    context.setAllowTF32CuDNN(false);
    EXPECT_LE(rounded, 1e-3);
    EXPECT_GE(rounded, 1e-5);
  }
  context.setBenchmarkCuDNN(true), context.setDeterministicCuDNN(true);
  context.setDeterministicAlgorithms(true, false);
  EXPECT_TRUE(context.benchmarkCuDNN() && context.deterministicCuDNN() &&
              context.deterministicAlgorithms());
  context.setBenchmarkCuDNN(false), context.setDeterministicCuDNN(false);
  context.setDeterministicAlgorithms(false, false);
}

}  // namespace
}  // namespace gradus
