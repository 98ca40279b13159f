// Errors and texts of paddings, fold, upsampling, sampling and unpooling, and what no row shows.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

template <class Module>
std::string printed(const Module& module) {
  std::ostringstream out;
  out << module;
  return out.str().substr(std::string("gradus::nn::").size());
}

TEST(Images, PrintTheirOptions) {
  EXPECT_EQ(printed(nn::ReflectionPad1d(nn::ReflectionPad1dOptions({2, 1}))),
            "ReflectionPad1d(padding=[2, 1])");
  EXPECT_EQ(printed(nn::ConstantPad1d(1, 3.5)), "ConstantPad1d(padding=[1, 1], value=3.5)");
  EXPECT_EQ(printed(nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{2, 4}))),
            "Upsample(size=[2, 4], mode=kNearest)");
  EXPECT_EQ(printed(nn::Unfold(std::vector<int64_t>{2, 4})),
            "Unfold(kernel_size=[2, 4], dilation=[1, 1], padding=[0, 0], stride=[1, 1])");
  EXPECT_EQ(printed(nn::LPPool1d(2, 5)),
            "LPPool1d(norm_type=2, kernel_size=5, stride=5, ceil_mode=false)");
  EXPECT_EQ(printed(nn::PReLU()), "PReLU(num_parameters=1)");
}

TEST(Interpolate, NamesWhatDoesNotFit) {
  const Tensor x = ones({3, 2, 2});
  expect_error<ValueError>([&] { F::interpolate(x); },
                           "either size or scale_factor should be defined");
  expect_error<ValueError>(
      [&] {
        F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>{3, 2}));
      },
      "scale_factor shape must match input shape. Input is 1D, scale_factor size is [3, 2]");
  const auto size = F::InterpolateFuncOptions().size(std::vector<int64_t>{4});
  auto with = size;
  expect_error<ValueError>([&] { F::interpolate(x, with.mode(kBilinear)); },
                           "Got 3D input, but kBilinear needs 4D input");
  with = size;
  expect_error<ValueError>([&] { F::interpolate(x, with.align_corners(true)); },
                           "align_corners option can only be set with");
  with = size;
  expect_error<ValueError>([&] { F::interpolate(x, with.mode(kLinear).antialias(true)); },
                           "antialias option is only supported for bilinear and bicubic");
  expect_error<ValueError>([&] { F::interpolate(x, F::InterpolateFuncOptions().mode(kReLU)); },
                           "mode is no interpolation");
}

TEST(Fold, NamesWhatDoesNotFit) {
  expect_error<ValueError>(
      [] {
        nn::Unfold(3)(ones({1, 1, 2, 2}));
      },
      "calculated shape of the array of sliding blocks as (0, 0)");
  expect_error<ValueError>(
      [] {
        nn::Unfold(1)(ones({2, 2}));
      },
      "Only unbatched (3D) or batched (4D) input Tensors");
  expect_error<ValueError>(
      [] {
        nn::Fold(nn::FoldOptions({3, 2}, {2, 2}))(ones({1, 5, 2}));
      },
      "divisible by the product of kernel_size");
  expect_error<ValueError>(
      [] {
        nn::Fold(nn::FoldOptions({3, 2}, {2, 2}))(ones({1, 4, 3}));
      },
      "sliding blocks 2 * 1 = 2, but got input.size(2)=3");
}

TEST(GridSample, NamesWhatDoesNotFit) {
  const Tensor x = ones({1, 1, 2, 2});
  expect_error<ValueError>(
      [&] {
        F::grid_sample(x, ones({1, 2, 2, 3}));
      },
      "expected grid of shape [1, ..., 2]");
  expect_error<ValueError>(
      [&] {
        F::grid_sample(x, ones({1, 2, 2, 2}), F::GridSampleFuncOptions().mode(kTrilinear));
      },
      "mode is kTrilinear");
  expect_error<ValueError>(
      [] {
        F::affine_grid(ones({1, 2, 3}), {1, 1});
      },
      "affine_grid only supports 4D and 5D sizes");
}

TEST(GridSample, ReadsNothingWhereTheGridIsNaN) {
  const Tensor x = ones({1, 1, 2, 2}, requires_grad());
  const Tensor grid = tensor({std::nan(""), 0.0, 0.0, 0.0}, requires_grad());
  for (const bool nearest : {false, true}) {
    auto options = F::GridSampleFuncOptions().align_corners(true);
    if (nearest) options.mode(kNearest);
    const Tensor y = F::grid_sample(x, grid.view({1, 1, 2, 2}), options);
    expect_values(y, {0, 1});
    x.mutable_grad() = Tensor();
    y.sum().backward();
    EXPECT_EQ(x.grad().sum().item<float>(), 1);
  }
}

TEST(MaxUnpool, NamesWhatDoesNotFit) {
  const nn::MaxUnpool1d unpool(2);
  const Tensor x = ones({1, 1, 2}), index = zeros({1, 1, 2}, kLong);
  expect_error<ValueError>(
      [&] {
        unpool(x, zeros({1, 2}, kLong));
      },
      "Expected shape of indices to be same as that of input");
  expect_error<ValueError>([&] { unpool(x, index, std::vector<int64_t>{6}); },
                           "invalid output_size 6 in dimension 0, expected it between 2 and 6");
  expect_error<IndexError>([&] { unpool(x, index + 4); }, "");
}

TEST(CrossMapLRN2d, IsALocalResponseNormOfAnOddSize) {
  const Tensor x = randn({2, 6, 2, 2});
  expect_values(nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(3).alpha(0.5))(x),
                to_vector(nn::LocalResponseNorm(nn::LocalResponseNormOptions(3).alpha(0.5))(x)), 0);
}

TEST(FractionalMaxPool, DrawsItsWindows) {
  expect_error<ValueError>([] { nn::FractionalMaxPool2d(2); },
                           "requires specifying either an output_size, or an output_ratio");
  manual_seed(1);
  const Tensor x = randn({2, 3, 9, 9});
  const nn::FractionalMaxPool2d pool(nn::FractionalMaxPool2dOptions(2).output_ratio(0.5));
  const auto [values, indices] = pool->forward_with_indices(x);
  EXPECT_EQ(values.sizes(), IntArrayRef({2, 3, 4, 4}));
  EXPECT_TRUE(equal(values.flatten(2), x.flatten(2).gather(2, indices.flatten(2))));
  EXPECT_FALSE(equal(pool(x), values));
}

TEST(GumbelSoftmax, DrawsOneOfEachRow) {
  manual_seed(1);
  const Tensor logits = randn({4, 3}, requires_grad());
  const Tensor hard = F::gumbel_softmax(logits, F::GumbelSoftmaxFuncOptions().hard(true));
  expect_values(hard.sum(-1), {1, 1, 1, 1}, 1e-6);
  expect_values(hard.amax(-1), {1, 1, 1, 1}, 1e-6);
  F::gumbel_softmax(logits).square().sum().backward();
  EXPECT_TRUE(logits.grad().ne(0).any().item<bool>());
}

TEST(Interpolate, TakesIntegersByTheNearestPixelAlone) {
  const Tensor bytes = tensor({0, 100, 200}).to(kByte).view({1, 1, 3});
  const auto size = F::InterpolateFuncOptions().size(std::vector<int64_t>{6});
  expect_values(F::interpolate(bytes, size), {0, 0, 100, 100, 200, 200}, 0);
  expect_error<TypeError>(
      [&] { F::interpolate(bytes, F::InterpolateFuncOptions(size).mode(kLinear)); },
      "interpolate: input has dtype uint8, expected a floating point type for kLinear; convert "
      "with .to(kFloat)");
}

// Half of the output lies beyond the reach of the NaN.
TEST(Interpolate, ANaNStaysWhereItIs) {
  for (const bool first : {true, false}) {
    const Tensor x = ones({1, 1, 1, 12});
    x.select(3, first ? 0 : 11).fill_(std::nan(""));
    const Tensor y = F::interpolate(x, F::InterpolateFuncOptions()
                                           .size(std::vector<int64_t>{1, 4})
                                           .mode(kBilinear)
                                           .antialias(true));
    const Tensor far = y.narrow(3, first ? 2 : 0, 2);
    expect_values(far, {1, 1});
    EXPECT_TRUE(y.isnan().any().item<bool>());
  }
}

TEST(Interpolate, RoundsHalfTypesOnce) {
  manual_seed(5);
  const Tensor x = randn({1, 2, 5, 7}, kHalf);
  const auto options = F::InterpolateFuncOptions().size(std::vector<int64_t>{9, 11}).mode(kBicubic);
  const Tensor y = F::interpolate(x, options);
  EXPECT_EQ(y.dtype(), kHalf);
  expect_values(y, to_vector(F::interpolate(x.to(kFloat), options).to(kHalf)), 0);
}

}  // namespace
}  // namespace gradus
