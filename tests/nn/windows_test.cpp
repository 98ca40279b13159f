// Convolutions and pools as layers: what they print, start with, pad and refuse.
#include <sstream>

#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

template <class Module>
std::string text_of(const Module& module) {
  std::ostringstream out;
  out << module;
  return out.str().substr(std::string("gradus::nn::").size());
}

void expect_close(const Tensor& got, const Tensor& expected, double tolerance = 1e-5) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  EXPECT_LE((got - expected).abs().max().item<double>(), tolerance);
}

// The texts are libtorch's.
TEST(WindowLayers, PrintTheirOptions) {
  EXPECT_EQ(text_of(nn::Conv1d(3, 4, 5)), "Conv1d(3, 4, kernel_size=5, stride=1)");
  EXPECT_EQ(text_of(nn::Conv2d(3, 4, 5)), "Conv2d(3, 4, kernel_size=[5, 5], stride=[1, 1])");
  EXPECT_EQ(text_of(nn::Conv2d(nn::Conv2dOptions(4, 6, {2, 3})
                                   .stride(2)
                                   .padding({1, 0})
                                   .dilation(2)
                                   .groups(2)
                                   .bias(false)
                                   .padding_mode(kCircular))),
            "Conv2d(4, 6, kernel_size=[2, 3], stride=[2, 2], padding=[1, 0], dilation=[2, 2], "
            "groups=2, bias=false, padding_mode=kCircular)");
  EXPECT_EQ(text_of(nn::Conv3d(nn::Conv3dOptions(4, 4, 3).padding(kSame))),
            "Conv3d(4, 4, kernel_size=[3, 3, 3], stride=[1, 1, 1], padding='same')");
  EXPECT_EQ(
      text_of(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(3, 2, 3).output_padding(1).stride(2))),
      "ConvTranspose2d(3, 2, kernel_size=[3, 3], stride=[2, 2], output_padding=[1, 1])");
  EXPECT_EQ(text_of(nn::MaxPool2d(nn::MaxPool2dOptions({3, 2}).stride({2, 2}))),
            "MaxPool2d(kernel_size=[3, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1], "
            "ceil_mode=false)");
  EXPECT_EQ(text_of(nn::AvgPool1d(2)), "AvgPool1d(kernel_size=2, stride=2, padding=0)");
  EXPECT_EQ(text_of(nn::AdaptiveAvgPool2d(3)), "AdaptiveAvgPool2d(output_size=[3, 3])");
  EXPECT_EQ(text_of(nn::Flatten()), "Flatten(start_dim=1, end_dim=-1)");
  EXPECT_EQ(text_of(nn::Unflatten(1, std::vector<int64_t>{2, 2})),
            "Unflatten(dim=1, unflattened_size={2, 2})");
  EXPECT_EQ(text_of(nn::Identity()), "Identity()");
  EXPECT_EQ(text_of(nn::Dropout(0.42)), "Dropout(p=0.42, inplace=false)");
  EXPECT_EQ(text_of(nn::BatchNorm2d(nn::BatchNorm2dOptions(4).eps(0.5).affine(false))),
            "BatchNorm2d(4, eps=0.5, momentum=0.1, affine=false, track_running_stats=true)");
  EXPECT_EQ(text_of(nn::LayerNorm(nn::LayerNormOptions({2, 2}).eps(2e-5))),
            "LayerNorm([2, 2], eps=2e-05, elementwise_affine=true)");
  EXPECT_EQ(text_of(nn::GroupNorm(2, 4)), "GroupNorm(2, 4, eps=1e-05, affine=true)");
}

// Each choice of kernel for float32: by channels, windows and sides.
TEST(Conv, EveryDeviceComputesTheSame) {
  for (const Device device : cpu_and_cuda())
    for (const int64_t channels : {4, 36})
      for (const int64_t kernel : {1, 3, 5}) {
        SCOPED_TRACE(::testing::Message()
                     << device << " " << channels << " channels, kernel " << kernel);
        const Tensor x = randn({2, channels, 6, 6}),
                     w = randn({channels, channels, kernel, kernel}) * 0.05;
        const auto results = [&](const TensorOptions& options) {
          const Tensor a = x.to(options).clone().requires_grad_(),
                       b = w.to(options).clone().requires_grad_();
          const Tensor y = F::conv2d(a, b, F::Conv2dFuncOptions().padding(kernel / 2));
          y.square().sum().backward();
          return std::vector<Tensor>{y, a.grad(), b.grad()};
        };
        const auto got = results(device), expected = results(kDouble);
        for (size_t i = 0; i < got.size(); ++i) {
          const Tensor exact = expected[i].detach();
          expect_close(got[i].detach().cpu().to(kDouble), exact,
                       1e-5 * exact.abs().max().item<double>());
        }
      }
}

TEST(Conv, StartsWithinTheBoundOfItsFilter) {
  manual_seed(1);
  const nn::Conv2d conv(nn::Conv2dOptions(4, 50, {3, 5}).groups(2));
  EXPECT_EQ(conv->weight.sizes(), IntArrayRef({50, 2, 3, 5}));
  EXPECT_EQ(conv->bias.sizes(), IntArrayRef({50}));
  const double bound = 1 / std::sqrt(2.0 * 3 * 5);
  for (const Tensor& x : {conv->weight, conv->bias}) {
    EXPECT_LE(x.abs().max().item<double>(), bound);
    EXPECT_GT(x.abs().max().item<double>(), 0.8 * bound);
  }
  EXPECT_FALSE(nn::Conv1d(nn::Conv1dOptions(1, 2, 3).bias(false))->bias.defined());
}

TEST(Conv, IsItsFunctionWithItsOptions) {
  manual_seed(2);
  const Tensor x = randn({2, 4, 7, 6});
  const nn::Conv2d conv(
      nn::Conv2dOptions(4, 6, {3, 2}).stride({2, 1}).padding({1, 2}).dilation(2).groups(2));
  expect_close(conv(x), conv2d(x, conv->weight, conv->bias, {2, 1}, {1, 2}, 2, 2), 0);
  expect_close(F::conv2d(x, conv->weight, F::Conv2dFuncOptions().bias(conv->bias).groups(2)),
               conv2d(x, conv->weight, conv->bias, 1, 0, 1, 2), 0);
  const nn::Conv2d same(nn::Conv2dOptions(4, 2, 3).padding(kSame));
  EXPECT_EQ(same(x).sizes(), IntArrayRef({2, 2, 7, 6}));
  for (const PaddingMode mode : {kReflect, kReplicate, kCircular}) {
    const nn::Conv2d padded(nn::Conv2dOptions(4, 2, 3).padding({2, 1}).padding_mode(mode));
    const Tensor around = F::pad(x, F::PadFuncOptions({1, 1, 2, 2}).mode(mode));
    expect_close(padded(x), conv2d(around, padded->weight, padded->bias), 0);
  }
  const auto copy = std::dynamic_pointer_cast<nn::Conv2dImpl>(conv->clone());
  expect_close(copy->forward(x), conv(x), 0);
}

TEST(Conv, TransposedTakesAnOutputSize) {
  const nn::ConvTranspose2d conv(nn::ConvTranspose2dOptions(2, 3, 3).stride(2));
  const Tensor x = randn({1, 2, 4, 4});
  EXPECT_EQ(conv(x).sizes(), IntArrayRef({1, 3, 9, 9}));
  EXPECT_EQ(conv->forward(x, std::vector<int64_t>{10, 9}).sizes(), IntArrayRef({1, 3, 10, 9}));
  expect_error<ValueError>(
      [&] {
        conv->forward(x, std::vector<int64_t>{11, 9});
      },
      "valid sizes range from 9 to 10");
  expect_error<ValueError>(
      [&] { nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 3, 3).padding_mode(kReflect))(x); },
      "Only `zeros` padding mode is supported for ConvTranspose2d");
}

TEST(Conv, NamesWhatDoesNotFit) {
  expect_error<ValueError>([] { nn::Conv2d(3, 0, 2); }, "Conv2d: in_channels, out_channels");
  expect_error<ValueError>([] { nn::Conv2d(nn::Conv2dOptions(3, 4, 2).groups(2)); },
                           "in_channels must be divisible by groups");
  expect_error<ValueError>([] { nn::Conv2d(nn::Conv2dOptions(4, 3, 2).groups(2)); },
                           "out_channels must be divisible by groups");
  expect_error<ValueError>([] { nn::Conv2d(3, 4, 0); }, "kernel_size must be 1 or more");
  expect_error<ValueError>(
      [] {
        nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding(kSame).stride({1, 2}));
      },
      "Conv2d: padding='same' is not supported for strided convolutions, and stride is [1, 2]");
  expect_error<ValueError>(
      [] {
        nn::Conv2dOptions(3, 4, {1, 2, 3});
      },
      "Expected 2 values, but instead got 3");
  const Tensor none;
  expect_error<ValueError>([&] { nn::Conv2d(3, 4, 2)(none); }, "Conv2d: input is undefined");
  expect_error<ValueError>([&] { nn::MaxPool2d(2)(none); }, "MaxPool2d: input is undefined");
  expect_error<ValueError>([&] { nn::BatchNorm2d(2)(none); }, "BatchNorm2d: input is undefined");
}

TEST(Conv, TransposedChecksTheTypeOfItsBias) {
  const Tensor x = ones({1, 1, 3}), weight = ones({1, 2, 2});
  for (const ScalarType dtype : {kDouble, kLong})
    expect_error<TypeError>([&] { conv_transpose1d(x, weight, zeros({2}, dtype)); },
                            "conv_transpose1d: Input type (float32) and bias type (");
  EXPECT_EQ(conv_transpose1d(x, weight, zeros({2})).sizes(), IntArrayRef({1, 2, 4}));
}

TEST(Functional, NormalizeWritesIntoAGivenTensor) {
  const Tensor x = tensor({1.0, 3.0}).view({1, 2}), out = zeros({1, 2});
  nn::functional::normalize(x, nn::functional::NormalizeFuncOptions().p(1).out(out));
  expect_values(out, {0.25, 0.75});
}

TEST(Pools, AreTheirFunctionsWithTheirOptions) {
  manual_seed(3);
  const Tensor x = randn({2, 3, 9, 8});
  const nn::MaxPool2d pool(
      nn::MaxPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0}).dilation({1, 2}).ceil_mode(true));
  expect_close(pool(x), max_pool2d(x, {3, 2}, {2, 1}, {1, 0}, {1, 2}, true), 0);
  const auto [values, indices] = pool->forward_with_indices(x);
  expect_close(values, pool(x), 0);
  expect_close(x.flatten(2).gather(2, indices.flatten(2)), values.flatten(2), 0);
  const nn::AvgPool2d average(
      nn::AvgPool2dOptions(3).stride(2).padding(1).count_include_pad(false).divisor_override(7));
  expect_close(average(x), avg_pool2d(x, 3, 2, 1, false, false, 7), 0);
  const nn::AdaptiveAvgPool2d adaptive(nn::AdaptiveAvgPool2dOptions({4, std::nullopt}));
  expect_close(adaptive(x), adaptive_avg_pool2d(x, {4, 8}), 0);
  expect_close(nn::AdaptiveMaxPool2d(2)(x), std::get<0>(adaptive_max_pool2d(x, 2)), 0);
  expect_close(adaptive_avg_pool2d(x, 1), x.mean({2, 3}, true));
}

TEST(BatchNorm, TracksWhatItSees) {
  manual_seed(4);
  const nn::BatchNorm2d norm(3);
  const Tensor x = randn({4, 3, 2, 5}) * 2 + 1;
  const Tensor y = norm(x);
  expect_close(y.mean({0, 2, 3}), zeros({3}));
  expect_close(y.var({0, 2, 3}, false), ones({3}), 1e-4);
  expect_close(norm->running_mean, x.mean({0, 2, 3}) * 0.1);
  expect_close(norm->running_var, x.var({0, 2, 3}) * 0.1 + 0.9);
  EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 1);
  norm->eval();
  const Tensor column = (norm->running_var + 1e-5).rsqrt();
  expect_close(norm(x), (x - norm->running_mean.view({3, 1, 1})) * column.view({3, 1, 1}));
  expect_close(norm->running_mean, x.mean({0, 2, 3}) * 0.1);

  // Without a momentum: the mean of all batches.
  const nn::BatchNorm1d all(nn::BatchNorm1dOptions(2).momentum(std::nullopt));
  const Tensor a = randn({5, 2}), b = randn({5, 2});
  all(a), all(b);
  expect_close(all->running_mean, (a.mean(0) + b.mean(0)) / 2);

  const nn::BatchNorm1d untracked(nn::BatchNorm1dOptions(2).track_running_stats(false));
  untracked->eval();
  expect_close(untracked(a).mean(0), zeros({2}));
  EXPECT_EQ(norm->state_dict().size(), 5u);
  expect_error<ValueError>(
      [] {
        nn::BatchNorm1d(2)(ones({1, 2}));
      },
      "Expected more than 1 value per channel when training, got input size");
  expect_error<ValueError>(
      [] {
        nn::BatchNorm2d(2)(ones({1, 2}));
      },
      "expected 4D input (got 2D input)");
}

TEST(Dropout, IsAModuleThatRestsInEval) {
  manual_seed(5);
  const Tensor x = ones({1000});
  const nn::Dropout drop(0.25);
  const double share = drop(x).eq(0).to(kDouble).mean().item<double>();
  EXPECT_NEAR(share, 0.25, 0.06);
  drop->eval();
  expect_close(drop(x), x, 0);
  expect_error<ValueError>([] { nn::Dropout(1.5); },
                           "dropout probability has to be between 0 and 1, but got 1.5");
}

TEST(Layers, OfWindowsChain) {
  const nn::Sequential lenet(nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)), nn::ReLU(),
                             nn::MaxPool2d(2), nn::Conv2d(6, 16, 5), nn::ReLU(), nn::MaxPool2d(2),
                             nn::Flatten(), nn::Linear(400, 10));
  EXPECT_EQ(lenet->forward(randn({3, 1, 28, 28})).sizes(), IntArrayRef({3, 10}));
  EXPECT_EQ(nn::Unflatten(1, std::vector<int64_t>{2, 5})(ones({3, 10})).sizes(),
            IntArrayRef({3, 2, 5}));
}

}  // namespace
}  // namespace gradus
