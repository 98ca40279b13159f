// What happens at bounds: the last pixel of samplers, axes that keep their size, the last offset of
// bags; and targets of losses in integer types.
#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

// An image whose value is the column, so that each row has the slope 1 a pixel.
Tensor columns(int64_t dims, int64_t width) {
  std::vector<int64_t> size(static_cast<size_t>(dims) + 2, width);
  size[0] = size[1] = 1;
  return arange(width, kDouble).expand(size);
}

// The slope of a sampler at places of x, among others of the same column.
struct Slopes {
  Tensor along, across;
};
Slopes slopes(const Tensor& image, const std::vector<double>& x,
              const F::GridSampleFuncOptions& options) {
  const int64_t dims = image.dim() - 2, n = static_cast<int64_t>(x.size());
  std::vector<int64_t> shape(static_cast<size_t>(dims) + 2, 1);
  shape[static_cast<size_t>(dims)] = n, shape.back() = dims;
  Tensor grid = full(shape, 1, TensorOptions(image.dtype()).device(image.device()));  // at the end
  grid.select(-1, 0).copy_(tensor(x, kDouble).view({n}).to(image.device()));
  grid.requires_grad_();
  F::grid_sample(image, grid, options).sum().backward();
  const Tensor grad = grid.grad().cpu().view({n, dims});
  return {grad.select(1, 0), grad.narrow(1, 1, dims - 1)};
}

// As in PyTorch no gradient passes where a place is put to the border, or lies on it.
TEST(GridSample, ItsGradientEndsAtTheLastPixel) {
  const int64_t width = 5;
  for (const Device device : cpu_and_cuda())
    for (const ScalarType dtype : {kFloat, kDouble})
      for (const int64_t dims : {2, 3})
        for (const bool reflects : {false, true})
          for (const bool aligned : {true, false}) {
            SCOPED_TRACE(device.str() + ' ' + std::to_string(dims) +
                         (reflects ? " reflection" : "") + (aligned ? " aligned" : ""));
            F::GridSampleFuncOptions options;
            options.align_corners(aligned).padding_mode(kBorder);
            if (reflects) options.padding_mode(kReflection);
            const Tensor image = columns(dims, width).to(TensorOptions(dtype).device(device));
            const double slope = aligned ? 2 : 2.5;  // pixels for one of the grid
            // The first and the last pixel lie at -end and end.
            const double end = aligned ? 1 : 0.8;
            const auto [along, across] =
                slopes(image, {-end, -0.5, 0, 0.5, end, end + 0.05, -end - 0.05}, options);
            const double beyond = reflects && aligned ? -slope : 0;
            expect_values(along, {0, slope, slope, slope, 0, beyond, beyond}, 1e-4);
            EXPECT_EQ(across.abs().max().item<double>(), 0);  // the rows are equal
          }
}

// Away from bounds and pixels the gradient is that of finite differences, in every mode.
TEST(GridSample, ItsGradientIsThatOfDifferencesNearBounds) {
  manual_seed(3);
  for (const int64_t dims : {2, 3}) {
    const Tensor image = randn(dims == 2 ? Dims{1, 2, 4, 4} : Dims{1, 2, 4, 4, 4}, kDouble);
    Dims shape{1, 7, 1, 2};
    if (dims == 3) shape = {1, 7, 1, 1, 3};
    const Tensor grid = rand(shape, kDouble) * 3.1 - 1.55;
    for (const bool aligned : {false, true})
      for (const int padding : {0, 1, 2})
        for (const bool cubic : {false, true}) {
          if (cubic && dims == 3) continue;
          F::GridSampleFuncOptions options;
          options.align_corners(aligned);
          if (cubic) options.mode(kBicubic);
          if (padding == 1) options.padding_mode(kBorder);
          if (padding == 2) options.padding_mode(kReflection);
          const auto f = [&](const std::vector<Tensor>& in) {
            return std::vector<Tensor>{F::grid_sample(in[0], in[1], options)};
          };
          EXPECT_TRUE(autograd::gradcheck(
              f, {image.clone().requires_grad_(), grid.clone().requires_grad_()}));
        }
  }
}

TEST(Interpolate, CopiesAnAxisThatKeepsItsSize) {
  // 1.5 * 3 is 4, and 1.3 * 3 is 3.
  const Tensor x = arange(3, kDouble);
  const auto line = F::InterpolateFuncOptions().mode(kLinear).align_corners(false);
  auto options = line;
  options.scale_factor(std::vector<double>{1.3});
  expect_values(F::interpolate(x.view({1, 1, 3}), options), {0, 1, 2}, 0);
  for (const bool aligned : {false, true})
    for (const int64_t dims : {2, 3}) {
      F::InterpolateFuncOptions some;
      some.align_corners(aligned);
      if (dims == 2)
        some.mode(kBilinear);
      else
        some.mode(kTrilinear);
      std::vector<double> factor(static_cast<size_t>(dims), 1.3);
      std::vector<int64_t> shape(static_cast<size_t>(dims) + 2, 3);
      shape[0] = shape[1] = 1;
      const Tensor image = randn(shape, kDouble);
      EXPECT_TRUE(F::interpolate(image, some.scale_factor(factor)).equal(image));
      // Beside an axis that grows, each slice is interpolated by itself.
      factor[0] = 2;
      const Tensor y = F::interpolate(image, some.scale_factor(factor));
      EXPECT_EQ(y.size(2), 6);
      auto alone = line;
      alone.align_corners(aligned).scale_factor(std::vector<double>{2});
      const Tensor want = F::interpolate(image.reshape({1, 3, -1}).transpose(1, 2), alone);
      EXPECT_TRUE(y.reshape({1, 6, -1}).transpose(1, 2).allclose(want, 1e-12, 1e-12));
    }
}

Tensor longs(std::vector<int64_t> values) { return tensor(values, kLong); }

TEST(EmbeddingBag, TheLastOffsetEndsTheLastBag) {
  const Tensor numbers = arange(5, kLong);
  for (const Device device : cpu_and_cuda())
    for (const auto& [word, want] :
         {std::pair{0, std::vector<double>{1, 2}}, {1, {0.5, 2}}, {2, {1, 2}}}) {
      const Tensor table = arange(5, kFloat).view({5, 1}).to(device).requires_grad_();
      F::EmbeddingBagFuncOptions options;
      options.offsets(longs({0, 2, 3}).to(device)).include_last_offset(true);
      if (word == 0) options.mode(kSum);
      if (word == 1) options.mode(kMean);
      if (word == 2) options.mode(kMax);
      const Tensor bags = F::embedding_bag(numbers.to(device), table, options);
      EXPECT_EQ(bags.sizes(), IntArrayRef({2, 1}));
      expect_values(bags, want);
      bags.sum().backward();
      const std::vector<double> grads[] = {{1, 1, 1, 0, 0}, {0.5, 0.5, 1, 0, 0}, {0, 1, 1, 0, 0}};
      expect_values(table.grad(), grads[word]);
    }
}

TEST(EmbeddingBag, OffsetsNeverFall) {
  const Tensor table = ones({5, 3}), numbers = arange(5, kLong);
  const auto bags = [&](const Tensor& offsets, bool last = false) {
    return F::embedding_bag(
        numbers, table,
        F::EmbeddingBagFuncOptions().offsets(offsets).mode(kSum).include_last_offset(last));
  };
  expect_error<ValueError>([&] { bags(longs({0, 3, 1})); }, "offsets fall from 3 to 1");
  expect_error<ValueError>([&] { bags(longs({0, 3, 1}), true); }, "offsets fall from 3 to 1");
  expect_error<ValueError>([&] { bags(longs({0, -1})); }, "offsets fall from 0 to -1");
  expect_error<ValueError>([&] { bags(longs({-1, 2})); }, "offsets[0] has to be 0");
  expect_error<ValueError>([&] { bags(longs({0, 6})); }, "input's length 5");
  expect_error<ValueError>([&] { bags(longs({0, 6}), true); }, "input's length 5");
  EXPECT_EQ(bags(empty({0}, kLong)).sizes(), IntArrayRef({0, 3}));
  EXPECT_EQ(bags(zeros({1}, kLong), true).sizes(), IntArrayRef({0, 3}));
  expect_values(bags(longs({0, 0, 5, 5}), true), {0, 0, 0, 5, 5, 5, 0, 0, 0});
}

TEST(Losses, OfProbabilitiesTakeFloatingPointTargets) {
  const Tensor x = full({3}, 0.5).requires_grad_(), numbers = ones({3}, kLong);
  for (const Tensor& target : {numbers, numbers.to(kBool), numbers.to(kInt)}) {
    expect_error<TypeError>([&] { F::binary_cross_entropy_with_logits(x, target); },
                            "binary_cross_entropy_with_logits: target has dtype");
    expect_error<TypeError>([&] { F::binary_cross_entropy(x, target); },
                            "binary_cross_entropy: target has dtype");
    expect_error<TypeError>([&] { nn::BCELoss()(x, target); }, "target has dtype");
    expect_error<TypeError>([&] { nn::BCEWithLogitsLoss()(x, target); }, "target has dtype");
  }
  F::binary_cross_entropy_with_logits(x, numbers.to(kDouble)).backward();
  EXPECT_TRUE(x.grad().isfinite().all().item<bool>());
}

}  // namespace
}  // namespace gradus
