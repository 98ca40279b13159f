// Normalisations by rows on the CPU and a GPU, against formulas of public functions in float64.
#include <cmath>

#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

struct Results {
  Tensor y, sums, grad;
};

// The formulas of tensor/backend.h, in float64.
Results plain(const NormalizedRows& rows, double eps, const Tensor& grad, const Tensor& x,
              const Tensor& weight, const Tensor& bias) {
  const auto split = [&](const Tensor& t) {
    return t.to(kDouble).view({rows.rows / rows.groups, rows.groups, rows.weights(), rows.inner});
  };
  const auto weights = [&](const Tensor& t, double without) {
    const Tensor all =
        t.defined() ? t.to(kDouble) : full({rows.groups * rows.weights()}, without, kDouble);
    return all.view({1, rows.groups, rows.weights(), 1});
  };
  const std::vector<int64_t> over = {rows.shared ? 0 : 2, 3};
  const Tensor wide = split(x), g = split(grad), w = weights(weight, 1);
  const Tensor rstd = (wide.var(over, false, true) + eps).rsqrt();
  const Tensor normal = (wide - wide.mean(over, true)) * rstd, weighted = g * w;
  const Tensor x_grad =
      rstd * (weighted - weighted.mean(over, true) - normal * (weighted * normal).mean(over, true));
  return {(normal * w + weights(bias, 0)).view({-1}),
          stack({(g * normal).sum({0, 3}).view({-1}), g.sum({0, 3}).view({-1})}),
          x_grad.view({-1})};
}

void compare(const NormalizedRows& rows, ScalarType dtype, Device device) {
  const std::string text =
      "rows " + std::to_string(rows.rows) + " of " + std::to_string(rows.length) + ", groups " +
      std::to_string(rows.groups) + ", inner " + std::to_string(rows.inner) +
      (rows.shared ? ", shared" : "") + ", " + std::string(short_name(dtype)) + ", " + device.str();
  const int64_t numel = rows.rows * rows.length, weights = rows.groups * rows.weights();
  const double eps = 1e-3;
  const Tensor x = randn({numel}, kDouble).to(dtype) + 3, grad = randn({numel}, kDouble).to(dtype);
  const Tensor weight = pick(0, 3) > 0 ? randn({weights}, kDouble).to(dtype) : Tensor();
  const Tensor bias = pick(0, 3) > 0 ? randn({weights}, kDouble).to(dtype) : Tensor();
  const Results expected = plain(rows, eps, grad, x, weight, bias);
  const auto there = [&](const Tensor& t) { return t.defined() ? t.to(device) : t; };
  Tensor mean, rstd;
  if (rows.shared) {
    const Tensor channels = x.to(kDouble).view({rows.rows / rows.groups, rows.groups, rows.length});
    const auto of = raw::batch_statistics(rows, eps, 0.1, there(x), {}, {}, {});
    mean = of.mean, rstd = of.rstd;
    expect_close(mean, channels.mean({0, 2}), rounding(dtype) * 16, text + ", mean");
    expect_close(rstd.to(kCPU).to(kDouble).pow(-2) - eps, channels.var({0, 2}, false, false),
                 rounding(dtype) * 64, text + ", variance");
  }
  const Tensor y = raw::normalize(rows, eps, there(x), there(weight), there(bias), mean, rstd);
  const Tensor sums = raw::normalize_sums(rows, there(grad), there(x), mean, rstd);
  const Tensor x_grad = raw::normalize_grad(rows, there(grad), there(x), mean, rstd, there(weight),
                                            rows.shared ? sums : Tensor());
  const raw::NormalizeGrads both =
      raw::normalize_grads(rows, there(grad), there(x), mean, rstd, there(weight));
  // x is about 3 apart from 0; rstd is at most 32 for a row of one element.
  const double unit = rounding(dtype) * 64;
  expect_close(y, expected.y, unit * 4, text + ", y");
  expect_close(sums, expected.sums, unit * (8 + std::sqrt(static_cast<double>(numel / weights))),
               text + ", sums");
  expect_close(x_grad, expected.grad, unit * 64, text + ", gradient");
  expect_close(both.x, expected.grad, unit * 64, text + ", gradient of both");
  expect_close(stack({both.weight, both.bias}), expected.sums,
               unit * (8 + std::sqrt(static_cast<double>(numel / weights))),
               text + ", sums of both");
}

void compare_everywhere(const NormalizedRows& rows) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const Device device : {Device(kCPU), Device(kCUDA)}) compare(rows, dtype, device);
}

// Batch norm, a sum and a clamp after it, where what a clamp passes on is known by the result.
void compare_with(const AfterNorm& after, const NormalizedRows& rows, ScalarType dtype,
                  Device device) {
  const int64_t numel = rows.rows * rows.length;
  const double eps = 1e-3, unit = rounding(dtype) * 64;
  const Tensor x = randn({numel}, kDouble).to(dtype), grad = randn({numel}, kDouble).to(dtype);
  const auto parameter = [&] {
    return pick(0, 3) > 0 ? randn({rows.groups}, kDouble).to(dtype) : Tensor();
  };
  const Tensor weight = parameter(), bias = parameter();
  const auto there = [&](const Tensor& t) { return t.defined() ? t.to(device) : t; };
  const auto of = raw::batch_statistics(rows, eps, 0.1, there(x), {}, {}, {});
  const bool adds = after.adds, of_sum = after.clamps_a_sum();
  const Tensor identity = adds ? randn({numel}, kDouble).to(dtype) : Tensor();
  const Tensor y =
      raw::batch_normalize(rows, after, there(x), there(identity), there(weight), there(bias), of);
  const Tensor alone = plain(rows, eps, grad, x, weight, bias).y;
  const Tensor sum = adds ? alone + identity.to(alone.dtype()) : alone;
  const auto [low, high] = after.bounds;
  const bool bounded = !std::isnan(high);
  expect_close(y, !after.clamps ? sum : bounded ? sum.clamp(low, high) : sum.relu(), unit * 4, "y");
  Tensor inside = y.cpu() > low;
  if (bounded) inside = inside.logical_and(y.cpu() < high);
  const Tensor passed = after.clamps ? where(inside, grad, zeros_like(grad)) : grad;
  const Results expected = plain(rows, eps, passed, x, weight, bias);
  const auto grads = raw::batch_normalize_grads(rows, after, there(grad), there(x), y,
                                                there(weight), there(bias), of, true);
  const double of_sums = unit * (8 + std::sqrt(static_cast<double>(numel / rows.groups)));
  expect_close(grads.x, expected.grad, unit * 64, "gradient");
  expect_close(grads.weight, expected.sums[0], of_sums, "gradient of weight");
  expect_close(grads.bias, expected.sums[1], of_sums, "gradient of bias");
  EXPECT_EQ(grads.identity.defined(), of_sum);
  if (of_sum) {
    EXPECT_TRUE(grads.identity.cpu().equal(passed));
  }
}

class CudaNormalize : public GpuTest {};

// relu, relu6 and other bounds, of sums, too. The bounds are numbers of each type.
constexpr AfterNorm kAfter[] = {AfterNorm::relu(),
                                {.clamps = true, .bounds = {0, 6}},
                                {.clamps = true, .bounds = {-0.5, 0.75}},
                                {.adds = true},
                                {.adds = true, .clamps = true},
                                {.adds = true, .clamps = true, .bounds = {-0.5, 0.75}}};

// Lengths around those at which kernels change their method.
TEST_F(CudaNormalize, RowsOfEveryLength) {
  for (const int64_t length : {1, 2, 3, 4, 8, 31, 32, 100, 128, 384, 511, 1024, 1028, 2050, 4096})
    compare_everywhere({pick(1, 40), length, 1, 1, false});
  compare_everywhere({2, 20000, 1, 1, false});
  compare_everywhere({3, 17001, 1, 1, false});
  compare_everywhere({pick(600, 900), pick(4, 40), 1, 1, false});
}

// Under autocast a product makes the gradient of a half type, which is read as it is on a GPU.
TEST_F(CudaNormalize, GradientsOfHalfTypes) {
  for (const ScalarType dtype : {kHalf, kBFloat16})
    for (const int64_t length :
         {1, 7, 12, 96, 97, 384, 388, 512, 768, 1030, 2048, 2052, 4096, 9001})
      for (const Device device : {Device(kCPU), Device(kCUDA)}) {
        const NormalizedRows rows = {length < 100 ? pick(200, 400) : pick(1, 12), length, 1, 1,
                                     false};
        const double eps = 1e-3, unit = rounding(kFloat) * 64;
        const Tensor x = randn({rows.rows * length}), grad = randn({rows.rows * length}).to(dtype),
                     weight = pick(0, 3) > 0 ? randn({length}) : Tensor();
        const Results expected = plain(rows, eps, grad, x, weight, Tensor());
        const auto there = [&](const Tensor& t) { return t.defined() ? t.to(device) : t; };
        Tensor mean, rstd;
        raw::normalize(rows, eps, there(x), there(weight), Tensor(), mean, rstd);
        const auto run = [&] {
          return raw::normalize_grads(rows, there(grad), there(x), mean, rstd, there(weight));
        };
        const raw::NormalizeGrads got = run(), again = run();
        const std::string text = std::to_string(rows.rows) + " rows of " + std::to_string(length) +
                                 ", " + std::string(short_name(dtype)) + ", " + device.str();
        EXPECT_EQ(got.x.dtype(), kFloat);
        expect_close(got.x, expected.grad, unit * 64, text + ", gradient");
        expect_close(stack({got.weight, got.bias}), expected.sums,
                     unit * (8 + std::sqrt(static_cast<double>(rows.rows))), text + ", sums");
        EXPECT_TRUE(got.x.equal(again.x) && got.weight.equal(again.weight) &&
                    got.bias.equal(again.bias))
            << text;
      }
}

// A copy in a half type and a sum with another tensor have the bits of operations by themselves.
TEST_F(CudaNormalize, CopiesAndSumsInTheSamePass) {
  for (const ScalarType dtype : {kHalf, kBFloat16})
    for (const int64_t length : {1, 7, 12, 96, 388, 512, 768, 1030, 2056, 9001})
      for (const int64_t inner : {1, length < 100 ? 4 : 1})
        for (const Device device : {Device(kCPU), Device(kCUDA)}) {
          const NormalizedRows rows = {pick(1, length < 100 ? 40 : 3), length * inner, 1, inner,
                                       false};
          const auto made = [&](IntArrayRef sizes) { return randn(sizes).to(device); };
          const int64_t numel = rows.rows * rows.length;
          const Tensor x = made({numel}), w = made({length}), b = made({length});
          Tensor mean, rstd, low = raw::empty({numel}, dtype, device);
          const Tensor y = raw::normalize(rows, 1e-3, x, w, b, mean, rstd);
          EXPECT_TRUE(raw::normalize(rows, 1e-3, x, w, b, mean, rstd, low).equal(y)) << length;
          EXPECT_TRUE(low.equal(y.to(dtype))) << length;
          for (const bool of_half : {false, true}) {
            const Tensor grad = of_half ? made({numel}).to(dtype) : made({numel}),
                         other = made({numel});
            const auto run = [&](const Tensor& added, const Tensor& copy) {
              return raw::normalize_grads(rows, grad, x, mean, rstd, w, added, copy);
            };
            const raw::NormalizeGrads plain = run({}, {}), summed = run(other, low);
            EXPECT_TRUE(summed.x.equal(plain.x + other)) << length;
            EXPECT_TRUE(low.equal(summed.x.to(dtype))) << length;
            EXPECT_TRUE(summed.weight.equal(plain.weight) && summed.bias.equal(plain.bias));
            EXPECT_TRUE(run(other, {}).x.equal(summed.x));
            EXPECT_TRUE(run({}, low).x.equal(plain.x) && low.equal(plain.x.to(dtype)));
            const Tensor sums = raw::empty({length * inner}, kFloat, device);
            const auto with_sums =
                raw::normalize_grads(rows, grad, x, mean, rstd, w, other, low, sums);
            EXPECT_TRUE(with_sums.x.equal(summed.x) && low.equal(summed.x.to(dtype)));
            EXPECT_TRUE(with_sums.weight.equal(summed.weight) && with_sums.bias.equal(summed.bias));
            expect_close(
                sums, summed.x.cpu().to(kDouble).view({rows.rows, -1}).sum(0),
                (dtype == kHalf ? 0x1p-8 : 0x1p-5) * std::sqrt(static_cast<double>(rows.rows)),
                "sums");
          }
        }
}

// Without a graph of derivatives half types are read as they are, computed in float32 and rounded
// once.
TEST_F(CudaNormalize, RowsOfHalfTypes) {
  const NoGradGuard guard;
  for (const ScalarType dtype : {kHalf, kBFloat16})
    for (const int64_t length : {1, 7, 8, 32, 200, 768, 1025, 2056, 9001})
      for (const bool affine : {false, true}) {
        const auto made = [&](IntArrayRef sizes) { return (randn(sizes) + 3).to(dtype); };
        const Tensor x = made({pick(1, 9), length});
        const Tensor weight = affine ? made({length}) : Tensor(),
                     bias = affine ? made({length}) : Tensor();
        const auto of = [&](auto convert) {
          const auto to = [&](const Tensor& t) { return t.defined() ? convert(t) : t; };
          return layer_norm(to(x), {length}, to(weight), to(bias), 1e-3);
        };
        const Tensor expected = of([](const Tensor& t) { return t.to(kDouble); });
        const Tensor got = of([](const Tensor& t) { return t.cuda(); });
        EXPECT_EQ(got.dtype(), dtype);
        const double unit = dtype == kHalf ? 0x1p-11 : 0x1p-8;
        const Tensor apart = (got.to(kCPU).to(kDouble) - expected).abs();
        EXPECT_LE((apart - expected.abs() * unit).max().item<double>(), 1e-4) << length;
      }
}

// Few rows have a kernel of their own.
TEST_F(CudaNormalize, FewRowsHaveTheBitsOfMany) {
  const NoGradGuard guard;
  for (const ScalarType dtype : {kHalf, kBFloat16})
    for (const int64_t length : {7, 65, 200, 256, 768, 1030, 2048, 2056}) {
      const Tensor x = randn({50, length}, kCUDA).to(dtype),
                   weight = randn({length}, kCUDA).to(dtype),
                   bias = randn({length}, kCUDA).to(dtype);
      const Tensor all = layer_norm(x, {length}, weight, bias);
      for (const int64_t rows : {1, 3, 32})
        EXPECT_TRUE(equal(layer_norm(x.narrow(0, 10, rows), {length}, weight, bias),
                          all.narrow(0, 10, rows)))
            << rows << " of " << length;
    }
}

TEST_F(CudaNormalize, GroupsOfChannels) {
  for (int round = 0; round < 8; ++round) {
    const int64_t groups = pick(1, 4), channels = pick(1, 5),
                  inner = round < 4 ? 4 * pick(1, 20) : pick(1, 90);
    compare_everywhere({pick(1, 6) * groups, channels * inner, groups, inner, false});
  }
  compare_everywhere({6, 8, 2, 1, false});  // without spatial dimensions
}

TEST_F(CudaNormalize, ChannelsOfBatches) {
  for (int round = 0; round < 8; ++round) {
    const int64_t channels = pick(1, 7), length = round < 4 ? 4 * pick(1, 300) : pick(1, 90);
    compare_everywhere({pick(2, 9) * channels, length, channels, length, true});
  }
  compare_everywhere({300 * 5, 1, 5, 1, true});
  compare_everywhere({300, 1, 1, 1, true});
}

TEST_F(CudaNormalize, ChannelsOfBatchesBeforeASumAndAClamp) {
  for (int round = 0; round < 8; ++round)
    for (const ScalarType dtype : {kFloat, kDouble})
      for (const Device device : {Device(kCPU), Device(kCUDA)})
        for (const AfterNorm& after : kAfter) {
          const int64_t channels = pick(1, 7), length = round < 4 ? 4 * pick(1, 300) : pick(1, 90);
          compare_with(after, {pick(2, 9) * channels, length, channels, length, true}, dtype,
                       device);
        }
}

}  // namespace
}  // namespace gradus
