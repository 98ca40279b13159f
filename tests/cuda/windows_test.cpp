// Convolutions and pools on a GPU against the CPU.
#include "tests/windows.h"

#include <limits>

#include "gradus/cuda/ops/cudnn.h"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

using namespace test;

class CudaWindows : public GpuTest {
 protected:
  void TearDown() override {
    if (cuda::is_available()) cuda::set_convolution_kernel("automatic");
  }
};

Tensor random_of(const Dims& sizes, ScalarType dtype) {
  const Tensor memory = random_memory(dtype, numel_of(sizes), {-1, 1});
  return *raw::try_view(memory, sizes);
}

void check_convolution(const Convolution& s, ScalarType dtype) {
  SCOPED_TRACE(test::describe(s));
  const Device gpu(kCUDA);
  for (const ConvolutionPass part : kParts) {
    const Tensor a = random_of(sizes_of(first_operand(part), s), dtype);
    const Tensor b = random_of(sizes_of(second_operand(part), s), dtype);
    const Tensor bias = part == ConvolutionPass::fprop ? random_of({s.filters}, dtype) : Tensor();
    const auto wide = [](const Tensor& t) { return t.defined() ? raw::to(t, kDouble) : t; };
    const auto there = [&](const Tensor& t) { return t.defined() ? raw::to(t, gpu) : t; };
    const Tensor expected = raw::convolution("conv", part, s, wide(a), wide(b), wide(bias));
    const Tensor got = raw::convolution("conv", part, s, there(a), there(b), there(bias));
    expect_close(got, expected, rounding(dtype) * (8 + terms_of(part, s)),
                 "part " + std::to_string(static_cast<int>(part)));
    const Tensor again = raw::convolution("conv", part, s, there(a), there(b), there(bias));
    expect_close(again, raw::to(got, Device(kCPU)), 0, "the same bits again");
    if (part != ConvolutionPass::wgrad) continue;
    const Tensor sums = raw::empty({s.filters}, dtype, gpu);
    const Tensor expected_sums = raw::empty({s.filters}, kDouble, Device(kCPU));
    raw::convolution_sums("conv", s, wide(a), wide(b), expected_sums);
    const Tensor beside = raw::convolution_sums("conv", s, there(a), there(b), sums);
    expect_close(beside, expected, rounding(dtype) * (8 + terms_of(part, s)), "beside the sums");
    expect_close(sums, expected_sums, rounding(dtype) * (8 + terms_of(part, s)), "the sums");
  }
}

TEST_F(CudaWindows, ConvolutionsOfRandomShapes) {
  for (int i = 0; i < (kSimulated ? 8 : 16); ++i)
    check_convolution(random_convolution(i % 4 == 0 ? 20 : 4, 9), i % 3 == 0 ? kDouble : kFloat);
}

// Two dimensions that are alike.
Convolution squares(int64_t batch, int64_t channels, int64_t filters, const WindowDim& dim) {
  Convolution s;
  s.batch = batch, s.channels = channels, s.filters = filters;
  for (int d = 1; d < kSpatial; ++d) s.dim[d] = dim;
  return s;
}

// Those of the tiles that are picked by the number of filters; and terms that are cut up.
TEST_F(CudaWindows, ConvolutionsOfEveryTile) {
  for (const auto& [channels, filters] : {std::pair(3, 5), std::pair(5, 40), std::pair(70, 75)})
    check_convolution(squares(3, channels, filters, {9, 9, 3, 1, 1, 1}), kFloat);
  // Of few filters or channels, in several steps: of channels, and of places.
  for (const auto& [channels, filters] : {std::pair(45, 6), std::pair(6, 45)})
    check_convolution(squares(2, channels, filters, {12, 8, 5, 1, 0, 1}), kFloat);
  check_convolution(squares(2, 3, 4, {60, 60, 3, 1, 1, 1}), kFloat);
  // Of few filters, too many terms for a thread to make each column of the product.
  check_convolution(squares(kSimulated ? 1 : 4, 16, 15, {38, 38, 5, 1, 2, 1}), kFloat);
  check_convolution(squares(6, 1, 6, {20, 20, 5, 1, 2, 1}), kFloat);
}

// A group for each channel: products of one row.
TEST_F(CudaWindows, DepthwiseConvolutions) {
  for (const int64_t kernel : {1, 3, 4, 5, 7}) {
    Convolution s = squares(3, 6, 6, {10, 0, kernel, 1, kernel / 2, 1});
    for (int d = 1; d < kSpatial; ++d) s.dim[d].out = 10 + 2 * (kernel / 2) - kernel + 1;
    s.groups = 6;
    check_convolution(s, kFloat);
    check_convolution(s, kDouble);
  }
}

// Steps and dilations by which some places of the input meet no element of the window.
TEST_F(CudaWindows, ConvolutionsWithGapsBetweenWindows) {
  for (int i = 0; i < 300; ++i) {
    Convolution s;
    s.batch = pick(1, 2), s.channels = pick(1, 3), s.filters = pick(1, 3);
    for (int d = i % 2 ? 1 : 2; d < kSpatial; ++d) {
      WindowDim& dim = s.dim[d];
      dim.kernel = pick(1, 3), dim.dilation = pick(1, 16), dim.stride = pick(2, 5);
      const int64_t extent = (dim.kernel - 1) * dim.dilation + 1;
      dim.padding = pick(0, 16),
      dim.in = std::max<int64_t>(extent - 2 * dim.padding, 1) + pick(0, 8);
      dim.out = (dim.in + 2 * dim.padding - extent) / dim.stride + 1;
    }
    check_convolution(s, kFloat);
  }
}

// Windows of 3 x 3 with many filters, which are gathered as patches: of a few samples in one block,
// of parts of one, with strides, steps and padding, and channels that are no multiple of 8.
TEST_F(CudaWindows, ConvolutionsOfOverlappingWindows) {
  for (int i = 0; i < (kSimulated ? 4 : 8); ++i) {
    Convolution s;
    s.groups = i % 4 == 3 ? 2 : 1;
    s.batch = pick(1, 6), s.channels = s.groups * 4 * pick(9, 11);
    s.filters = s.groups * 4 * pick(9, 17);
    for (int d = 1; d < kSpatial; ++d) {
      WindowDim& dim = s.dim[d];
      dim.in = 4 * pick(1, i % 2 ? 2 : 5), dim.kernel = 3, dim.padding = pick(0, 2);
      dim.stride = pick(1, 2), dim.dilation = dim.in + 2 * dim.padding > 4 ? pick(1, 2) : 1;
      dim.out = (dim.in + 2 * dim.padding - 2 * dim.dilation - 1) / dim.stride + 1;
    }
    check_convolution(s, kFloat);
  }
}

// Gradients of weights by wgmma, of floats as sums of three smaller numbers: filters, channels and
// places beyond a tile, fewer than a unit, strides and gaps.
TEST_F(CudaWindows, WeightGradientsByWgmma) {
  if (!cuda::has_wgmma()) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  cuda::set_convolution_kernel("wgmma");
  check_convolution(squares(9, 64, 64, {32, 32, 3, 1, 1, 1}), kFloat);
  check_convolution(squares(3, 130, 200, {13, 13, 3, 1, 1, 1}), kFloat);
  check_convolution(squares(2, 3, 64, {30, 15, 7, 2, 3, 1}), kFloat);
  check_convolution(squares(5, 72, 129, {4, 4, 3, 1, 1, 1}), kFloat);
  for (int i = 0; i < 16; ++i) {
    Convolution s = random_convolution(4, 9);
    s.groups = 1, s.channels *= pick(1, 40), s.filters *= pick(1, 40);
    check_convolution(s, kFloat);
  }
}

// Floats as sums of two smaller ones do not serve for infinities and for what rounds to one.
TEST_F(CudaWindows, ConvolutionsOfInfinities) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kMax = 0x1.fffffep127f;
  for (const int64_t kernel : {1, 3}) {
    const Convolution s = squares(2, 40, 36, {8, 8, kernel, 1, kernel / 2, 1});
    const Tensor x = random_of({2, 40, 8, 8}, kFloat), w = full({36, 40, kernel, kernel}, 0.5f);
    x.data_ptr<float>()[64 + 27] = kInf, x.data_ptr<float>()[40 * 64 + 9] = kMax;
    const auto output = [&](const Tensor& a, const Tensor& b) {
      return raw::convolution("conv", ConvolutionPass::fprop, s, a, b);
    };
    const Tensor got = raw::to(output(raw::to(x, kCUDA), raw::to(w, kCUDA)), Device(kCPU));
    expect_close(got, output(x, w), 1e-4, "windows of " + std::to_string(kernel));
    EXPECT_EQ(got.isinf().sum().item<int64_t>(), 36 * (kernel == 1 ? 1 : 9));

    for (const char* const name : {"automatic", "wgmma"}) {
      cuda::set_convolution_kernel(name);
      const Tensor grad = full({2, 36, 8, 8}, 0.5f);
      const auto gradient = [&](const Tensor& a, const Tensor& b) {
        return raw::convolution("conv", ConvolutionPass::wgrad, s, a, b);
      };
      const Tensor sums = raw::to(gradient(raw::to(grad, kCUDA), raw::to(x, kCUDA)), Device(kCPU));
      expect_close(sums, gradient(grad, x), 1e-4, name);
      EXPECT_EQ(sums.isinf().sum().item<int64_t>(), 36 * kernel * kernel) << name;
    }
    cuda::set_convolution_kernel("automatic");
  }
}

Pool random_pool(bool adaptive) {
  Pool pool;
  pool.planes = pick(1, 5);
  for (int d = static_cast<int>(pick(0, 2)); d < kSpatial; ++d) {
    WindowDim& w = pool.dim[d];
    w.in = pick(3, 11);
    if (adaptive) {
      w.out = pick(1, 12), w.adaptive = true;
      continue;
    }
    w.kernel = pick(1, 3), w.stride = pick(1, 3);
    w.padding = pick(0, w.kernel / 2);
    w.out = (w.in + 2 * w.padding - w.kernel) / w.stride + 1;
  }
  return pool;
}

TEST_F(CudaWindows, Pools) {
  for (int i = 0; i < 24; ++i) {
    Pool pool = random_pool(i % 3 == 0);
    pool.counts_padding = i % 2 == 0;
    pool.divisor = i % 5 == 0 ? 3 : 0;
    const Dims in{pool.planes, pool.dim[0].in, pool.dim[1].in, pool.dim[2].in};
    const Dims out{pool.planes, pool.dim[0].out, pool.dim[1].out, pool.dim[2].out};
    for (const ScalarType dtype : {kFloat, kDouble}) {
      // Few numbers, so that some are equal.
      const Tensor x = raw::to(random_of(in, kInt), dtype), grad = random_of(out, dtype);
      const auto there = [](const Tensor& t) { return raw::to(t, Device(kCUDA)); };
      const auto most = raw::max_pool("max_pool", pool, 3, x);
      const auto got = raw::max_pool("max_pool", pool, 3, there(x));
      expect_close(got.values, most.values, 0, "values");
      expect_close(got.indices, most.indices, 0, "indices");
      expect_close(raw::max_pool_grad(pool, there(grad), got.indices, in),
                   raw::max_pool_grad(pool, grad, most.indices, in), 16 * rounding(dtype),
                   "gradient of maxima");
      expect_close(raw::average_pool("avg_pool", pool, 3, there(x)),
                   raw::average_pool("avg_pool", pool, 3, x), 16 * rounding(dtype), "averages");
      expect_close(raw::average_pool_grad(pool, 3, there(grad)),
                   raw::average_pool_grad(pool, 3, grad), 16 * rounding(dtype),
                   "gradient of averages");
    }
  }
}

TEST_F(CudaWindows, MaximaAreToldByTheirPlacesInWindows) {
  for (int i = 0; i < 24; ++i) {
    Pool pool = random_pool(false);
    for (WindowDim& w : pool.dim) {
      if (w.in == 1) continue;
      w.dilation = pick(1, 2);
      w.out = (w.in + 2 * w.padding - (w.kernel - 1) * w.dilation - 1) / w.stride + 1;
    }
    if (std::any_of(std::begin(pool.dim), std::end(pool.dim), [](auto& w) { return w.out < 1; }))
      continue;
    const Dims in{pool.planes, pool.dim[0].in, pool.dim[1].in, pool.dim[2].in};
    const Dims out{pool.planes, pool.dim[0].out, pool.dim[1].out, pool.dim[2].out};
    for (const ScalarType dtype : {kFloat, kBFloat16}) {
      const Tensor x = raw::to(random_of(in, kInt), dtype), grad = random_of(out, dtype);
      const auto there = [](const Tensor& t) { return raw::to(t, Device(kCUDA)); };
      const auto most = raw::max_pool("max_pool", pool, 3, x, raw::Places::quickest);
      const auto got = raw::max_pool("max_pool", pool, 3, there(x), raw::Places::quickest);
      EXPECT_EQ(most.indices.dtype(), kLong);
      EXPECT_EQ(got.indices.dtype(), kByte);
      expect_close(got.values, most.values, 0, "values");
      expect_close(raw::max_pool_grad(pool, there(grad), got.indices, in),
                   raw::max_pool_grad(pool, grad, most.indices, in), 16 * rounding(dtype),
                   "gradient");
    }
  }
  // Steps far beyond the input.
  Pool sparse;
  sparse.dim[1] = {3, 1, 2, int64_t{1} << 40}, sparse.dim[2] = {4, 2, 3, 1, 1};
  const Tensor few = raw::to(random_of({1, 1, 3, 4}, kInt), kFloat),
               one = random_of({1, 1, 1, 2}, kFloat);
  const auto first = raw::max_pool("max_pool", sparse, 2, few, raw::Places::quickest),
             there = raw::max_pool("max_pool", sparse, 2, raw::to(few, Device(kCUDA)),
                                   raw::Places::quickest);
  expect_close(raw::max_pool_grad(sparse, raw::to(one, Device(kCUDA)), there.indices, {1, 1, 3, 4}),
               raw::max_pool_grad(sparse, one, first.indices, {1, 1, 3, 4}), 0, "sparse gradient");
  // A byte does not count 17 * 16 elements.
  Pool large;
  large.dim[1] = {20, 4, 17, 1}, large.dim[2] = {20, 5, 16, 1};
  const Tensor x = raw::to(random_of({1, 1, 20, 20}, kFloat), Device(kCUDA));
  EXPECT_EQ(raw::max_pool("max_pool", large, 2, x, raw::Places::quickest).indices.dtype(), kLong);
}

// So do the layers, which have no use for places in planes.
TEST_F(CudaWindows, LayersKeepAByteForEachMaximum) {
  const auto kept = [](const auto& layer, const Tensor& x) {
    const int64_t before = cuda::memory_stats().allocated;
    const Tensor y = layer->forward(x);
    EXPECT_TRUE(y.requires_grad());
    return static_cast<double>(cuda::memory_stats().allocated - before) /
           static_cast<double>(y.numel());
  };
  const auto input = [](IntArrayRef sizes) { return randn(sizes).cuda().requires_grad_(); };
  EXPECT_LT(kept(nn::MaxPool1d(3), input({4, 8, 6000})), 6.5);
  EXPECT_LT(kept(nn::MaxPool2d(2), input({4, 8, 128, 128})), 6.5);
  EXPECT_LT(kept(nn::MaxPool3d(2), input({4, 8, 32, 32, 32})), 6.5);
}

TEST_F(CudaWindows, MaximaHaveSecondDerivatives) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor x = random_of({2, 3, 9, 8}, dtype).cuda().requires_grad_();
    const auto second = [&](const Tensor& most) {
      const Tensor first =
          autograd::grad({(most * most * most).sum()}, {x}, {}, std::nullopt, true)[0];
      return autograd::grad({(first * first).sum()}, {x})[0];
    };
    const Tensor expected =
        second(std::get<0>(max_pool2d_with_indices(x, {3, 2}, {2, 1}, {1, 0}, {1, 2}, true)));
    expect_close(second(max_pool2d(x, {3, 2}, {2, 1}, {1, 0}, {1, 2}, true)), expected,
                 16 * rounding(dtype), "second derivative");
  }
}

}  // namespace
}  // namespace gradus
