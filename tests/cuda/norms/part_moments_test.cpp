// Moments that convolutions make for batch norm: beside those of float64, and which ones are taken.
#include <functional>

#include "gradus/autograd/engine/moments.h"
#include "gradus/compat/ATen/Context.h"
#include "gradus/cuda/ops/convolution.h"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/cuda/runtime/stats.h"
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

using namespace test;

constexpr MemoryFormat kFormat = MemoryFormat::ChannelsLast;
constexpr ScalarType kMadeTypes[] = {kBFloat16, kHalf, kFloat};

class PartMomentsTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    manual_seed(1);
    if (!cuda::is_available() || !cuda::has_wgmma())
      GTEST_SKIP() << "needs a GPU of compute capability 9.0";
    cuda::set_convolution_kernel("wgmma");
    detail::allow_tf32_convolutions(true);
  }
  void TearDown() override {
    if (cuda::is_available()) cuda::set_convolution_kernel("automatic");
    detail::allow_tf32_convolutions(false);
  }
};

Tensor on_gpu(const Tensor& x, ScalarType dtype) { return x.to(dtype).cuda(); }
Tensor last(const Tensor& x) { return x.contiguous(kFormat); }

int64_t launches_of(const std::function<void()>& run) {
  const int64_t before = cuda::stats().kernel_launches;
  run();
  return cuda::stats().kernel_launches - before;
}

// An output of 5 x 12 x 12 places, which are 11 parts and a quarter, and its moments.
struct Made {
  Tensor out, rows;  // rows: (places, filters) in float64
  raw::PartMoments moments;
  NormalizedRows of;

  Made(int64_t channels, int64_t filters, ScalarType dtype) {
    Convolution s;
    s.batch = 5, s.channels = channels, s.filters = filters;
    for (int d = 1; d < kSpatial; ++d) s.dim[d] = {12, 12, 3, 1, 1, 1};
    of = {s.batch * s.outputs(), filters, 1, 1, true, true, 0, true};
    // The means are far from 0, by many times the deviation.
    const Tensor x = last(on_gpu(randn({5, channels, 12, 12}), dtype)),
                 w = last(on_gpu(randn({filters, channels, 3, 3}) * 0.05, dtype)),
                 bias = on_gpu(randn({filters}) * 20, dtype);
    moments.table = raw::empty({2, of.parts(), filters}, kFloat, Device(kCUDA));
    out = raw::convolution("conv", ConvolutionPass::fprop, s, x, w, bias, std::nullopt, &moments);
    rows = out.permute({0, 2, 3, 1}).reshape({of.rows, filters}).to(kDouble).cpu();
  }
};

TEST_F(PartMomentsTest, AreThoseOfWhatIsStored) {
  for (const ScalarType dtype : kMadeTypes)
    for (const auto& [channels, filters] :
         {std::pair(24, 136), std::pair(64, 72), std::pair(8, 16), std::pair(40, 256)}) {
      SCOPED_TRACE(std::to_string(filters) + " filters");
      const Made made(channels, filters, dtype);
      ASSERT_TRUE(made.moments.made);
      ASSERT_EQ(made.of.parts(), 12);
      const Tensor table = made.moments.table.to(kDouble).cpu();
      for (int64_t part = 0; part < 12; ++part) {
        const Tensor rows = made.rows.narrow(0, 64 * part, part < 11 ? 64 : 16);
        const Tensor mean = rows.mean(0), squares = (rows - mean).square().sum(0);
        const Tensor of_mean = (table[0][part] - mean).abs(),
                     of_squares = (table[1][part] - squares).abs();
        EXPECT_LE((of_mean - mean.abs() * 0x1p-22).max().item<double>(), 1e-6) << part;
        EXPECT_LE((of_squares - squares * 1e-5).max().item<double>(), 1e-6) << part;
      }
    }
}

// The bits are the same whether the convolution or batch norm makes the parts.
TEST_F(PartMomentsTest, GiveTheStatisticsOfBatchNorm) {
  for (const ScalarType dtype : kMadeTypes) {
    const Made made(24, 136, dtype);
    const auto statistics = [&](const Tensor& moments) {
      return raw::batch_statistics(made.of, 1e-5, 0.1, made.out, {}, {}, {}, moments);
    };
    const raw::Statistics given = statistics(made.moments.table), alone = statistics({});
    EXPECT_TRUE(given.mean.equal(alone.mean));
    EXPECT_TRUE(given.rstd.equal(alone.rstd));
    const Tensor mean = made.rows.mean(0),
                 rstd = ((made.rows - mean).square().mean(0) + 1e-5).rsqrt();
    const Tensor apart = (given.mean.to(kDouble).cpu() - mean).abs();
    EXPECT_LE((apart - mean.abs() * 0x1p-23 - 2e-7 / rstd).max().item<double>(), 0);
    EXPECT_LE(((given.rstd.to(kDouble).cpu() - rstd) / rstd).abs().max().item<double>(), 3e-6);
  }
}

// A layer of a network in training.
struct Layer {
  Tensor x, weight, gamma, beta;

  explicit Layer(ScalarType dtype, ScalarType of_weight)
      : x(last(on_gpu(randn({4, 24, 10, 10}), dtype))),
        weight(last(on_gpu(randn({40, 24, 3, 3}), of_weight)).set_requires_grad(true)),
        gamma(on_gpu(randn({40}), kFloat)),
        beta(on_gpu(randn({40}), kFloat)) {}
  Tensor convolved() const { return conv2d(x, weight, {}, 1, 1); }
  Tensor normalized(const Tensor& y) const {
    return batch_norm(y, gamma, beta, {}, {}, true, 0.1, 1e-5, true);
  }
  bool expects_moments() const { return autograd::room_for_moments(weight, 1, 40).table.defined(); }
};

TEST_F(PartMomentsTest, TakeNoReadingFromTheSecondStepOn) {
  for (const ScalarType dtype : kMadeTypes)
    for (const bool casts : {false, true}) {
      if (casts && dtype == kFloat) continue;
      SCOPED_TRACE(casts);
      const Layer layer(casts ? kFloat : dtype, casts ? kFloat : dtype);
      Tensors outs, grads;
      std::vector<int64_t> launches;
      for (int step = 0; step < 3; ++step) {
        const amp::autocast scope(kCUDA, dtype == kFloat ? kHalf : dtype, casts);
        launches.push_back(
            launches_of([&] { outs.push_back(layer.normalized(layer.convolved())); }));
        grads.push_back(autograd::grad({outs.back().sum()}, {layer.weight})[0]);
      }
      EXPECT_EQ(launches[1], launches[0] - 1);
      EXPECT_EQ(launches[2], launches[1]);
      for (int step = 1; step < 3; ++step) {
        EXPECT_TRUE(outs[step].equal(outs[0]));
        EXPECT_TRUE(grads[step].equal(grads[0]));
      }
    }
}

TEST_F(PartMomentsTest, AreDroppedWhereTheOutputChanges) {
  const Layer layer(kBFloat16, kBFloat16);
  layer.normalized(layer.convolved());
  EXPECT_TRUE(layer.expects_moments());
  Tensor y = layer.convolved();
  y.mul_(3).add_(1);
  EXPECT_TRUE(layer.normalized(y).equal(layer.normalized(y.clone())));
  EXPECT_FALSE(layer.expects_moments());
}

TEST_F(PartMomentsTest, AreMadeForBatchNormInTrainingAlone) {
  const Layer layer(kBFloat16, kBFloat16), other(kBFloat16, kBFloat16);
  const auto learn = [&] {
    layer.normalized(layer.convolved());
    EXPECT_TRUE(layer.expects_moments());
  };
  EXPECT_FALSE(layer.expects_moments());
  learn();
  relu(layer.convolved());
  other.convolved();  // nobody has taken those before it
  EXPECT_FALSE(layer.expects_moments());
  learn();
  const Tensor mean = zeros({40}).cuda(), var = ones({40}).cuda();
  batch_norm(layer.convolved(), layer.gamma, layer.beta, mean, var, false, 0.1, 1e-5, true);
  other.convolved();
  EXPECT_FALSE(layer.expects_moments());
  EXPECT_FALSE(other.expects_moments());
  const NoGradGuard guard;
  layer.normalized(layer.convolved());
  EXPECT_FALSE(layer.expects_moments());
}

}  // namespace
}  // namespace gradus
