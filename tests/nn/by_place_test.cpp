// Layers made from the arguments of Python's modules, in their order.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

// Both ways give a module of the same options.
template <class Module, class Options>
void expect_options(const Module& module, const Options& options) {
  EXPECT_TRUE(module->options == options) << module;
}

TEST(ByPlace, GivesTheOptionsThatNamesGive) {
  expect_options(nn::Linear(3, 2, false), nn::LinearOptions(3, 2).bias(false));
  expect_options(nn::Bilinear(3, 2, 4, false), nn::BilinearOptions(3, 2, 4).bias(false));
  expect_options(nn::Conv2d(3, 8, 3, 2), nn::Conv2dOptions(3, 8, 3).stride(2));
  expect_options(
      nn::Conv1d(4, 8, 3, 1, kSame, 2, 4, false, kCircular),
      nn::Conv1dOptions(4, 8, 3).padding(kSame).dilation(2).groups(4).bias(false).padding_mode(
          kCircular));
  expect_options(nn::ConvTranspose2d(4, 8, 3, 2, 1, 1, 2, false, 3),
                 nn::ConvTranspose2dOptions(4, 8, 3)
                     .stride(2)
                     .padding(1)
                     .output_padding(1)
                     .groups(2)
                     .bias(false)
                     .dilation(3));
  expect_options(nn::MaxPool2d(2, 3), nn::MaxPool2dOptions(2).stride(3));
  expect_options(nn::MaxPool2d(4, 2, 1, 2),
                 nn::MaxPool2dOptions(4).stride(2).padding(1).dilation(2));
  expect_options(
      nn::AvgPool2d(2, 2, 1, true, false, 3),
      nn::AvgPool2dOptions(2).padding(1).ceil_mode(true).count_include_pad(false).divisor_override(
          3));
  expect_options(nn::LPPool1d(2, 3, 2, true), nn::LPPool1dOptions(2, 3).stride(2).ceil_mode(true));
  expect_options(nn::MaxUnpool1d(2, 3), nn::MaxUnpool1dOptions(2).stride(3));
  expect_options(nn::FractionalMaxPool2d(2, std::nullopt, 0.5),
                 nn::FractionalMaxPool2dOptions(2).output_ratio(0.5));
  expect_options(nn::BatchNorm2d(8, 1e-3, std::nullopt, false),
                 nn::BatchNorm2dOptions(8).eps(1e-3).momentum({}).affine(false));
  expect_options(nn::InstanceNorm1d(8, 1e-3, 0.2, true),
                 nn::InstanceNorm1dOptions(8).eps(1e-3).momentum(0.2).affine(true));
  expect_options(nn::GroupNorm(2, 8, 1e-3), nn::GroupNormOptions(2, 8).eps(1e-3));
  expect_options(nn::LayerNorm(8), nn::LayerNormOptions({8}));
  expect_options(nn::LayerNorm(std::vector<int64_t>{2, 8}, 1e-3, false),
                 nn::LayerNormOptions({2, 8}).eps(1e-3).elementwise_affine(false));
  expect_options(nn::RMSNorm(8, 1e-3), nn::RMSNormOptions({8}).eps(1e-3));
  expect_options(nn::LocalResponseNorm(5, 1e-3), nn::LocalResponseNormOptions(5).alpha(1e-3));
  expect_options(nn::Embedding(10, 3, 0), nn::EmbeddingOptions(10, 3).padding_idx(0));
  expect_options(nn::EmbeddingBag(10, 3, std::nullopt, 2, false, kSum),
                 nn::EmbeddingBagOptions(10, 3).mode(kSum));
  expect_options(nn::Dropout(0.25, true), nn::DropoutOptions(0.25).inplace(true));
  expect_options(nn::RNN(3, 4, 2, kReLU), nn::RNNOptions(3, 4).num_layers(2).nonlinearity(kReLU));
  expect_options(nn::LSTM(3, 4, 2, true, true),
                 nn::LSTMOptions(3, 4).num_layers(2).batch_first(true));
  expect_options(nn::GRUCell(3, 4, false), nn::GRUCellOptions(3, 4).bias(false));
  expect_options(nn::MultiheadAttention(8, 2, 0.1, false),
                 nn::MultiheadAttentionOptions(8, 2).dropout(0.1).bias(false));
  EXPECT_EQ(nn::MultiheadAttention(8, 2, 0.1)->options.kdim(), 8);  // follows from another
  EXPECT_EQ(nn::TransformerEncoderLayer(8, 2, 16, 0)->options.dim_feedforward(), 16);
  expect_options(nn::LeakyReLU(0.2), nn::LeakyReLUOptions().negative_slope(0.2));
  expect_options(nn::Hardtanh(-2, 3), nn::HardtanhOptions().min_val(-2).max_val(3));
  expect_options(nn::Softplus(2, 10), nn::SoftplusOptions().beta(2).threshold(10));
  expect_options(nn::GELU("tanh"), nn::GELUOptions().approximate("tanh"));
  expect_options(nn::PReLU(3), nn::PReLUOptions().num_parameters(3));
  expect_options(nn::Flatten(0, 1), nn::FlattenOptions().start_dim(0).end_dim(1));
  expect_options(nn::CosineSimilarity(0), nn::CosineSimilarityOptions().dim(0));
  expect_options(nn::Upsample(std::vector<int64_t>{4}), nn::UpsampleOptions().size({{4}}));
  const Tensor weight = ones({3});
  expect_options(nn::CrossEntropyLoss(weight), nn::CrossEntropyLossOptions().weight(weight));
  expect_options(nn::HuberLoss(kSum, 2), nn::HuberLossOptions(kSum).delta(2));
  expect_options(nn::TripletMarginLoss(0.5, 1), nn::TripletMarginLossOptions().margin(0.5).p(1));
  expect_options(nn::CTCLoss(1, kSum), nn::CTCLossOptions().blank(1).reduction(kSum));
  expect_options(nn::Sequential(nn::Linear(3, 2, false))[0]->as<nn::Linear>(),
                 nn::LinearOptions(3, 2).bias(false));
}

template <class Module, class... Args>
constexpr bool kTakes = std::is_constructible_v<Module, Args...>;

TEST(ByPlace, TakesWhatHasOneMeaningAlone) {
  EXPECT_FALSE((kTakes<nn::Linear, int, int, int>));  // a switch is a bool
  EXPECT_FALSE((kTakes<nn::Linear, int, int, double>));
  EXPECT_FALSE((kTakes<nn::Linear, int, int, bool, bool>));
  EXPECT_FALSE((kTakes<nn::Linear, int>));
  EXPECT_FALSE((kTakes<nn::Conv2d, int, int, int, bool>));
  EXPECT_FALSE((kTakes<nn::Conv2d, int, int, int, double>));
  EXPECT_FALSE((kTakes<nn::Conv2d, int, int, int, int, bool>));
  EXPECT_FALSE((kTakes<nn::Conv2d, int, int, int, int, double>));
  EXPECT_FALSE((kTakes<nn::BatchNorm2d, int, bool>));
  EXPECT_FALSE((kTakes<nn::Embedding, int, int, double>));
  EXPECT_FALSE((kTakes<nn::LayerNorm, double>));
  // Python's module takes a number for every dimension of any input.
  EXPECT_FALSE((kTakes<nn::Upsample, int>));
  // Python's module has return_indices in this place.
  EXPECT_FALSE((kTakes<nn::MaxPool2d, int, int, int, int, bool>));
  EXPECT_FALSE((kTakes<nn::AdaptiveMaxPool2d, int, bool>));
  EXPECT_FALSE((kTakes<nn::Identity, int>));
  EXPECT_FALSE((kTakes<nn::MSELoss, Tensor>));
  EXPECT_FALSE((kTakes<nn::CrossEntropyLoss, double>));
}

TEST(ByPlace, ModulesMoveByTheNameOfTheirDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  nn::Linear fc(3, 2, false);
  fc->cuda();
  EXPECT_EQ(fc->weight.device(), Device("cuda:0"));
  fc->cpu();
  EXPECT_TRUE(fc->weight.is_cpu());
  if (cuda::device_count() < 2) return;
  fc->cuda(1);
  EXPECT_EQ(fc->weight.device(), Device("cuda:1"));
}

}  // namespace
}  // namespace gradus
