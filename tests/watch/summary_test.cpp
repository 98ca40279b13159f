// summary: shapes, parameters and products of models whose numbers are known.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

using watch::LayerSummary, watch::ModelSummary, watch::summary;

struct LeNetImpl : nn::Module {
  LeNetImpl()
      : conv1(register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)))),
        conv2(register_module("conv2", nn::Conv2d(6, 16, 5))),
        fc(register_module(
            "fc", nn::Sequential(nn::Linear(400, 120), nn::ReLU(), nn::Linear(120, 84), nn::ReLU(),
                                 nn::Dropout(0.5), nn::Linear(84, 10)))) {}
  Tensor forward(const Tensor& images) {
    const Tensor x = max_pool2d(relu(conv1(images)), 2);
    return fc->forward(max_pool2d(relu(conv2(x)), 2).flatten(1));
  }
  nn::Conv2d conv1, conv2;
  nn::Sequential fc;
};
GRADUS_MODULE(LeNet);

const LayerSummary& row(const ModelSummary& all, const std::string& name) {
  for (const LayerSummary& layer : all.layers)
    if (layer.name == name) return layer;
  throw std::runtime_error("no layer " + name);
}

TEST(Summary, OfLeNetIsATable) {
  LeNet model;
  model->fc->eval();
  const ModelSummary all = summary(model, rand({1, 1, 28, 28}));
  EXPECT_EQ(all.total_params, 61706);
  EXPECT_EQ(all.trainable_params, 61706);
  // 28 * 28 * 6 * 25 + 10 * 10 * 16 * 150 + 400 * 120 + 120 * 84 + 84 * 10
  EXPECT_EQ(all.total_mult_adds, 117600 + 240000 + 48000 + 10080 + 840);
  EXPECT_EQ(all.input_bytes, 4 * 784);
  EXPECT_EQ(all.param_bytes, 4 * 61706);
  EXPECT_EQ(all.output_bytes, 4 * (6 * 784 + 1600 + 120 * 2 + 84 * 3 + 10));
  EXPECT_EQ(all.str(), R"(layer             output           parameters  multiply-adds
------------------------------------------------------------
LeNet             [1, 10]                   -              -
  conv1: Conv2d   [1, 6, 28, 28]          156        117,600
  conv2: Conv2d   [1, 16, 10, 10]       2,416        240,000
  fc: Sequential  -                         -              -
    0: Linear     [1, 120]             48,120         48,000
    1: ReLU       [1, 120]                  -              -
    2: Linear     [1, 84]              10,164         10,080
    3: ReLU       [1, 84]                   -              -
    4: Dropout    [1, 84]                   -              -
    5: Linear     [1, 10]                 850            840
------------------------------------------------------------
total                                  61,706        416,520
------------------------------------------------------------
trainable parameters 61,706, others 0
memory: input 3.14 kB, parameters 247 kB, buffers 0 B, outputs of layers 27.2 kB
)");
  // The modes are as before, and no hook is left.
  EXPECT_TRUE(model->is_training());
  EXPECT_FALSE(model->fc->is_training());
  EXPECT_NO_THROW(model(rand({2, 1, 28, 28})));
  const ModelSummary again = summary(*model, rand({1, 1, 28, 28}));
  EXPECT_EQ(again.str(), all.str());
}

TEST(Summary, CountsTheProductsOfEachKindOfLayer) {
  const auto products = [](auto layer, const auto&... inputs) {
    return summary(layer, inputs...).total_mult_adds;
  };
  EXPECT_EQ(products(nn::Linear(3, 4), rand({2, 5, 3})), 2 * 5 * 3 * 4);
  EXPECT_EQ(products(nn::Bilinear(3, 4, 5), rand({2, 3}), rand({2, 4})), 2 * 3 * 4 * 5);
  EXPECT_EQ(products(nn::Conv1d(4, 6, 3), rand({2, 4, 10})), 2 * 6 * 8 * 4 * 3);
  EXPECT_EQ(products(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).groups(2)), rand({1, 4, 5, 5})),
            6 * 9 * 2 * 9);
  EXPECT_EQ(products(nn::Conv3d(2, 3, 2), rand({1, 2, 3, 3, 3})), 3 * 8 * 2 * 8);
  EXPECT_EQ(products(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 6, 2).stride(2)),
                     rand({1, 4, 5, 5})),
            4 * 25 * 6 * 4);
  EXPECT_EQ(products(nn::BatchNorm2d(3), rand({2, 3, 4, 4})), 2 * 3 * 16);
  EXPECT_EQ(products(nn::LayerNorm(nn::LayerNormOptions({3, 4})), rand({2, 3, 4})), 24);
  EXPECT_EQ(products(nn::Embedding(10, 4), randint(10, {3})), 0);
  EXPECT_EQ(products(nn::ReLU(), rand({3})), 0);
  EXPECT_EQ(products(nn::GRUCell(3, 4), rand({2, 3})), 2 * 12 * (3 + 4));
  EXPECT_EQ(products(nn::LSTMCell(3, 4), rand({2, 3})), 2 * 16 * (3 + 4));
  EXPECT_EQ(products(nn::LSTM(3, 4), rand({5, 2, 3})), 5 * 2 * 16 * (3 + 4));
  EXPECT_EQ(
      products(nn::RNN(nn::RNNOptions(3, 4).num_layers(2).bidirectional(true)), rand({5, 2, 3})),
      5 * 2 * 2 * (4 * (3 + 4) + 4 * (8 + 4)));
  const Tensor x = rand({7, 2, 8});
  EXPECT_EQ(products(nn::MultiheadAttention(8, 2), x, x, x), 14 * (4 * 64 + 2 * 7 * 8));
}

struct TaggerImpl : nn::Module {
  TaggerImpl()
      : words(register_module("words", nn::Embedding(20, 6))),
        lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(6, 5).bidirectional(true)))),
        out(register_module("out", nn::Linear(10, 3))) {}
  std::tuple<Tensor, int> forward(const Tensor& text) {
    return {out(std::get<0>(lstm(words(text)))), 3};
  }
  nn::Embedding words;
  nn::LSTM lstm;
  nn::Linear out;
};
GRADUS_MODULE(Tagger);

// Its forward() takes no tensor.
struct CounterImpl : nn::Module {
  explicit CounterImpl(Tagger inner) : tagger(register_module("tagger", std::move(inner))) {}
  Tensor forward(int64_t length) { return std::get<0>(tagger(zeros({length, 2}, kLong))); }
  Tagger tagger;
};
GRADUS_MODULE(Counter);

TEST(Summary, SeesPastModulesThatHooksDoNotFit) {
  const ModelSummary all = summary(Tagger(), zeros({4, 2}, kLong));
  EXPECT_EQ(row(all, "words").output_size, (std::vector<int64_t>{4, 2, 6}));
  EXPECT_EQ(row(all, "lstm").output_size, (std::vector<int64_t>{4, 2, 10}));
  EXPECT_EQ(row(all, "out").output_size, (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(row(all, "out").calls, 1);
  EXPECT_TRUE(row(all, "").output_size.empty());

  const ModelSummary counted = summary(Counter(Tagger()), 4);
  EXPECT_EQ(counted.total_mult_adds, all.total_mult_adds);
  EXPECT_EQ(counted.input_bytes, 0);
  EXPECT_EQ(row(counted, "tagger.out").output_size, (std::vector<int64_t>{4, 2, 3}));
}

struct TiedImpl : nn::Module {
  TiedImpl()
      : one(register_module("one", nn::Linear(3, 3))),
        two(register_module("two", one)),
        unused(register_module("unused", nn::Linear(3, 2))) {
    unused->weight.requires_grad_(false);
    register_buffer("steps", zeros({2}, kDouble));
  }
  Tensor forward(const Tensor& x) { return two(one(x)); }
  nn::Linear one, two, unused;
};
GRADUS_MODULE(Tied);

TEST(Summary, CountsSharedParametersOnce) {
  const ModelSummary all = summary(Tied(), rand({1, 3}));
  EXPECT_EQ(all.total_params, 12 + 8);
  EXPECT_EQ(all.trainable_params, 12 + 2);
  EXPECT_EQ(all.total_mult_adds, 2 * 9);
  EXPECT_EQ(all.buffer_bytes, 16);
  EXPECT_EQ(row(all, "one").calls, 2);
  EXPECT_EQ(row(all, "unused").calls, 0);
  EXPECT_TRUE(row(all, "unused").output_size.empty());
}

TEST(Summary, LeavesTheModelAsItIs) {
  nn::Sequential model(nn::Linear(3, 3), nn::BatchNorm1d(3), nn::Dropout(0.5));
  manual_seed(1);
  const Tensor before = default_generator(kCPU).get_state().clone();
  summary(model, ones({4, 3}));
  EXPECT_TRUE(equal(default_generator(kCPU).get_state(), before));
  EXPECT_EQ(model->named_buffers()["1.num_batches_tracked"].item<int64_t>(), 0);
  expect_error<ValueError>([&] { summary(model, ones({4, 5})); }, "");
  EXPECT_TRUE(model->is_training());
  int calls = 0;
  (*model)[0]->register_forward_hook([&](nn::Module&, const Tensor&, const Tensor&) {
    ++calls;
    return Tensor();
  });
  summary(model, ones({4, 3}));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace gradus
