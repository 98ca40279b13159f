// Module, Linear and Sequential: names, modes, conversion, printing, errors.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

struct TwoLayersImpl : nn::Module {
  TwoLayersImpl() : fc1(register_module("fc1", nn::Linear(4, 3))) {
    fc2 = register_module("fc2", nn::Linear(nn::LinearOptions(3, 2).bias(false)));
    steps = register_buffer("steps", zeros({1}, kLong));
    scale = register_parameter("scale", ones({2}));
  }
  Tensor forward(const Tensor& x) { return fc2(fc1(x).relu()) * scale; }
  nn::Linear fc1{nullptr}, fc2{nullptr};
  Tensor steps, scale;
};
GRADUS_MODULE(TwoLayers);

TEST(Module, ListsParametersAndBuffersByPathInOrder) {
  const TwoLayers net;
  EXPECT_EQ(net->named_parameters().keys(),
            (std::vector<std::string>{"scale", "fc1.weight", "fc1.bias", "fc2.weight"}));
  EXPECT_EQ(net->named_parameters(/*recurse=*/false).size(), 1u);
  EXPECT_EQ(net->named_buffers().keys(), std::vector<std::string>{"steps"});
  EXPECT_EQ(net->parameters().size(), 4u);
  EXPECT_EQ(net->children().size(), 2u);
  EXPECT_TRUE(net->named_parameters()["fc1.weight"].is_same(net->fc1->weight));
}

// One layer under two names: its parameters count once, and its state has both names.
struct TiedImpl : nn::Module {
  TiedImpl() {
    layer = register_module("encode", nn::Linear(2, 2));
    register_module("decode", layer);
    weight = register_parameter("weight", layer->weight);
  }
  Tensor forward(const Tensor& x) { return layer(layer(x)).matmul(weight); }
  nn::Linear layer{nullptr};
  Tensor weight;
};

TEST(Module, SharedParametersCountOnce) {
  manual_seed(1);
  const auto model = std::make_shared<TiedImpl>();
  EXPECT_EQ(model->parameters().size(), 2u);
  EXPECT_EQ(model->state_dict().size(), 5u);
  optim::SGD sgd(model->parameters(), 0.1);
  const Tensor before = model->weight.detach().clone();
  model->forward(ones({1, 2})).sum().backward();
  const Tensor grad = model->weight.grad().clone();
  sgd.step();
  expect_values(model->weight, to_vector(before - 0.1 * grad));
  const auto other = std::make_shared<TiedImpl>();
  other->load_state_dict(model->state_dict());
  expect_values(other->weight, to_vector(model->weight));
  EXPECT_TRUE(other->layer->weight.is_same(other->weight));
  model->to(kDouble);
  EXPECT_TRUE(model->layer->weight.is_same(model->weight));
  EXPECT_EQ(model->weight.dtype(), kDouble);
}

TEST(Module, TrainAndEvalReachTheChildren) {
  const TwoLayers net;
  EXPECT_TRUE(net->fc1->is_training());
  net->eval();
  EXPECT_FALSE(net->fc1->is_training());
  net->train();
  EXPECT_TRUE(net->fc2->is_training());
}

TEST(Module, ToConvertsInPlaceAndKeepsIntegerBuffers) {
  const TwoLayers net;
  const Tensor weight = net->fc1->weight;
  net->forward(ones({1, 4})).sum().backward();
  net->to(kDouble);
  EXPECT_EQ(weight.dtype(), kDouble);
  EXPECT_EQ(weight.grad().dtype(), kDouble);
  EXPECT_EQ(net->steps.dtype(), kLong);
  EXPECT_TRUE(weight.requires_grad());
  net->zero_grad();
  net->forward(ones({1, 4}, kDouble)).sum().backward();
  EXPECT_EQ(weight.grad().dtype(), kDouble);
  expect_error<TypeError>([&] { net->to(kLong); }, "not a floating point type");
  for (const ScalarType dtype : {kComplexFloat, kComplexDouble}) {
    const std::string why = ", and parameters are real; register view_as_real() of a complex one";
    expect_error<TypeError>([&] { net->to(dtype); }, why);
    expect_error<TypeError>([&] { net->to(kCPU, dtype); }, why);
    EXPECT_EQ(weight.dtype(), kDouble);
  }
}

TEST(Module, ToAMemoryFormatLaysOutTensorsOfItsDimensions) {
  for (const Device device : cpu_and_cuda()) {
    nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 4, 2)), nn::BatchNorm2d(4), nn::Flatten(),
                       nn::Linear(16, 2));
    nn::Conv3d deep(nn::Conv3dOptions(3, 4, 2));
    net->to(device);
    deep->to(device);
    const Tensor x = rand({2, 3, 3, 3}, device), before = net(x).detach();
    net(x).sum().backward();
    optim::SGD sgd(net->parameters(), 0.1);
    const Tensor weight = net[0]->as<nn::Conv2d>()->weight;
    const Tensor values = weight.detach().clone();
    const auto is = [](const Tensor& t, MemoryFormat format) { return t.is_contiguous(format); };
    net->to(MemoryFormat::ChannelsLast);
    deep->to(MemoryFormat::ChannelsLast);
    EXPECT_TRUE(is(weight, MemoryFormat::ChannelsLast) && !is(weight, MemoryFormat::Contiguous));
    EXPECT_TRUE(is(weight.grad(), MemoryFormat::ChannelsLast));
    EXPECT_TRUE(weight.requires_grad() && weight.detach().equal(values));
    EXPECT_TRUE(is(net[3]->as<nn::Linear>()->weight, MemoryFormat::Contiguous));
    EXPECT_TRUE(is(deep->weight, MemoryFormat::Contiguous));
    EXPECT_TRUE(net(x).allclose(before, 1e-5, 1e-6));
    sgd.step();  // the optimizer holds the same tensors
    EXPECT_FALSE(weight.detach().equal(values));
    deep->to(MemoryFormat::ChannelsLast3d);
    EXPECT_TRUE(is(deep->weight, MemoryFormat::ChannelsLast3d));
    net->to(MemoryFormat::Contiguous);
    deep->to(MemoryFormat::Contiguous);
    EXPECT_TRUE(is(weight, MemoryFormat::Contiguous) && is(deep->weight, MemoryFormat::Contiguous));
    expect_error<ValueError>([&] { net->to(MemoryFormat::Preserve); }, "memory_format is Preserve");
  }
}

TEST(Module, ZeroGradForgetsOrFillsWithZeros) {
  const TwoLayers net;
  net->forward(ones({1, 4})).sum().backward();
  net->zero_grad(/*set_to_none=*/false);
  expect_values(net->scale.grad(), {0, 0});
  net->zero_grad();
  EXPECT_FALSE(net->scale.grad().defined());
}

TEST(Module, RefusesNamesThatAreTakenOrUnusable) {
  const TwoLayers net;
  expect_error<ValueError>([&] { net->register_parameter("scale", ones({1})); }, "'scale'");
  expect_error<ValueError>([&] { net->register_buffer("fc1", ones({1})); }, "taken");
  expect_error<ValueError>([&] { net->register_buffer("a.b", ones({1})); }, "dot");
  expect_error<ValueError>([&] { net->register_parameter("", ones({1})); }, "not be empty");
}

TEST(Module, AnEmptyHolderSaysSo) {
  const nn::Linear empty_holder(nullptr);
  expect_error<Error>([&] { empty_holder->forward(ones({1})); }, "Accessing empty ModuleHolder");
}

TEST(Linear, StartsAsPyTorchDoes) {
  manual_seed(3);
  const nn::Linear fc(100, 50);
  EXPECT_EQ(fc->weight.sizes(), IntArrayRef({50, 100}));
  EXPECT_EQ(fc->bias.sizes(), IntArrayRef({50}));
  // Uniform in +-1/sqrt(100): bounds hold, and the spread is that of a uniform distribution.
  for (const Tensor& p : {fc->weight, fc->bias}) {
    EXPECT_LT(p.abs().max().item<double>(), 0.1);
    EXPECT_NEAR(p.square().mean().sqrt().item<double>(), 0.1 / std::sqrt(3.0), 0.01);
  }
}

TEST(Linear, ComputesXWTransposedPlusB) {
  const nn::Linear fc(2, 3);
  const NoGradGuard guard;
  fc->weight.copy_(tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}));
  fc->bias.copy_(tensor({0.5, -0.5, 1.0}));
  expect_values(fc(tensor({1.0, -1.0})), {-0.5, -1.5, 0});
  EXPECT_EQ(fc(ones({4, 5, 2})).sizes(), IntArrayRef({4, 5, 3}));
  EXPECT_EQ(fc(ones({0, 2})).sizes(), IntArrayRef({0, 3}));
}

TEST(Linear, ExplainsAWrongInput) {
  const nn::Linear fc(784, 10);
  expect_error<ValueError>(
      [&] {
        fc(ones({64, 28, 28}));
      },
      "linear: mat1 and mat2 shapes cannot be multiplied (1792x28 and 784x10): input has shape "
      "[64, 28, 28], expected in_features = 784 last; flatten it first?");
  expect_error<TypeError>([&] { fc(ones({64, 784}, kDouble)); }, "convert one with .to");
  expect_error<ValueError>([] { nn::Linear(0, 3); }, "in_features = 0");
}

TEST(Sequential, RunsItsModulesInOrder) {
  nn::Sequential net(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
  EXPECT_EQ(net->size(), 3u);
  EXPECT_EQ(net->named_parameters().keys(),
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
  const Tensor x = randn({5, 3});
  const Tensor expected =
      net->at<nn::LinearImpl>(2).forward(net->at<nn::LinearImpl>(0).forward(x).relu());
  expect_values(net->forward(x), to_vector(expected), 0);
  net->push_back(nn::ReLU());
  EXPECT_EQ(net->size(), 4u);
  expect_error<IndexError>([&] { net->ptr(4); }, "out of range");
  expect_error<TypeError>([&] { net->at<nn::LinearImpl>(1); }, "Attempted to cast module");
  expect_error<Error>([] { nn::Sequential()->forward(ones({1})); }, "on an empty Sequential");
}

TEST(Sequential, TakesNamesAndModulesOfOnesOwn) {
  nn::Sequential net({{"first", TwoLayers()}, {"act", nn::ReLU()}});
  EXPECT_TRUE(net->named_parameters().contains("first.fc1.weight"));
  EXPECT_EQ(net->forward(ones({2, 4})).sizes(), IntArrayRef({2, 2}));
}

TEST(Module, PrintsItsStructure) {
  std::ostringstream out;
  out << nn::Linear(3, 4);
  EXPECT_EQ(out.str(), "gradus::nn::Linear(in_features=3, out_features=4, bias=true)");
}

TEST(Losses, RefuseWhatWouldBroadcastOrMisread) {
  expect_error<ValueError>(
      [] {
        mse_loss(ones({3}), ones({3, 1}));
      },
      "Target size ([3, 1]) must be the same as input size ([3])");
  const Tensor logits = randn({2, 3});
  expect_error<TypeError>([&] { cross_entropy_loss(logits, ones({2})); }, "int64");
  expect_error<ValueError>([&] { cross_entropy_loss(logits, zeros({3}, kLong)); },
                           "cross_entropy: input has shape [2, 3], target [3], expected one class "
                           "number per element of [2]; reshape it");
  expect_error<IndexError>(
      [&] {
        cross_entropy_loss(logits, tensor({0, 3}));
      },
      "cross_entropy: index 3 is out of bounds for dimension 1 with size 3");
  expect_error<IndexError>([&] { nll_loss(logits, tensor({0, 3})); }, "nll_loss: index 3");
  expect_error<IndexError>([&] { cross_entropy_loss(logits, tensor({-1, 0})); }, "index -1");
}

TEST(Losses, RefuseOptionsThatDoNotFit) {
  const Tensor logits = randn({2, 3}), classes = tensor({0, 1});
  const auto smoothed = [&](double part) {
    cross_entropy_loss(logits, classes, {}, kMean, -100, part);
  };
  expect_error<ValueError>([&] { smoothed(1.5); },
                           "cross_entropy: label_smoothing is 1.5, expected");
  expect_error<ValueError>([&] { smoothed(-0.5); }, "label_smoothing is -0.5");
  expect_error<ValueError>([&] { cross_entropy_loss(logits, classes, ones({2})); },
                           "cross_entropy: weight has shape [2], expected [3]");
  expect_error<ValueError>(
      [&] {
        nll_loss(logits, classes, ones({3, 1}));
      },
      "nll_loss: weight has shape [3, 1], expected [3]");
  expect_error<TypeError>([&] { nll_loss(logits, classes, ones({3}, kDouble)); },
                          "nll_loss: weight has dtype float64, input float32; convert");
  expect_error<TypeError>(
      [&] {
        cross_entropy_loss(logits, ones({2, 3}, kLong));
      },
      "cross_entropy: target has input's shape [2, 3] and dtype int64");
  expect_error<ValueError>(
      [&] {
        cross_entropy_loss(logits, ones({2, 3}), {}, kMean, 2);
      },
      "cross_entropy: ignore_index is 2, and the target holds probabilities");
  expect_error<ValueError>([&] { cross_entropy_loss(ones({}), zeros({}, kLong)); },
                           "cross_entropy: input has no dimensions");
  expect_error<ValueError>([&] { nll_loss(ones({}), zeros({}, kLong)); },
                           "nll_loss: input has no dimensions");
}

TEST(Losses, WhatIsIgnoredNeedsNoFiniteLoss) {
  Tensor x = tensor({{-INFINITY, 0.0f}, {-1.0f, -2.0f}});
  x.set_requires_grad(true);
  const Tensor loss = nll_loss(x, tensor({9, 1}), {}, kMean, 9);
  EXPECT_EQ(loss.item<float>(), 2);
  loss.backward();
  expect_values(x.grad(), {0, 0, 0, -1});
  EXPECT_TRUE(std::isnan(nll_loss(x, tensor({9, 9}), {}, kMean, 9).item<float>()));
  EXPECT_EQ(nll_loss(x, tensor({9, 9}), {}, kSum, 9).item<float>(), 0);
  const Tensor bytes = tensor({156, 1}).to(kByte), wide = zeros({2, 200});
  EXPECT_EQ(nll_loss(wide + 1, bytes, {}, kSum).item<float>(), -2);
}

// 100000 targets, and losses that sum to 200000: both beyond float16.
TEST(Losses, AMeanOfSmallTypesDoesNotOverflow) {
  const Tensor x = full({100000, 2}, -2, kHalf);
  EXPECT_EQ(nll_loss(x, zeros({100000}, kLong)).item<float>(), 2);
}

TEST(Losses, TheWeightIsABufferOfTheModuleAlone) {
  const Tensor weight = tensor({1.0f, 3.0f});
  nn::CrossEntropyLoss loss(nn::CrossEntropyLossOptions().weight(weight));
  EXPECT_TRUE(loss->named_buffers().contains("weight"));
  EXPECT_EQ(nn::NLLLoss()->buffers().size(), 0u);
  const auto copy = std::dynamic_pointer_cast<nn::CrossEntropyLossImpl>(loss->clone());
  copy->weight.fill_(7);
  loss->to(kDouble);
  EXPECT_EQ(loss->weight.dtype(), kDouble);
  EXPECT_EQ(weight.dtype(), kFloat);
  EXPECT_EQ(copy->weight.dtype(), kFloat);
  expect_values(weight, {1, 3});
}

TEST(Losses, OneHotMarksTheClass) {
  expect_values(one_hot(tensor({2, 0}), 3), {0, 0, 1, 1, 0, 0});
  EXPECT_EQ(one_hot(tensor({{1, 4}})).sizes(), IntArrayRef({1, 2, 5}));
  expect_error<IndexError>([] { one_hot(tensor({0, 3}), 3); }, "target 3");
}

TEST(Module, HooksMayChangeTheHooks) {
  nn::Linear fc(1, 1);
  std::string order;
  size_t once = 0;
  once = fc->register_forward_pre_hook(
      [&, text = std::string(100, 'a')](nn::Module& m, const Tensor&) {
        m.remove_forward_pre_hook(once);
        order += text[99];  // what the hook holds lives on
        m.register_forward_pre_hook([&](nn::Module&, const Tensor&) {
          order += 'b';
          return Tensor();
        });
        return Tensor();
      });
  fc->register_forward_pre_hook([&](nn::Module&, const Tensor&) {
    order += 'c';
    return Tensor();
  });
  fc(ones({1, 1}));
  EXPECT_EQ(order, "ac");
  fc(ones({1, 1}));
  EXPECT_EQ(order, "accb");
}

TEST(Module, TheNumberOfAHookIsGivenOnce) {
  nn::Linear fc(1, 1);
  const auto pre = [](nn::Module&, const Tensor& x) { return x; };
  const auto post = [](nn::Module&, const Tensor&, const Tensor& y) { return y; };
  const size_t first_pre = fc->register_forward_pre_hook(pre);
  const size_t first = fc->register_forward_hook(post);
  fc->remove_forward_pre_hook(first_pre), fc->remove_forward_hook(first);
  EXPECT_NE(fc->register_forward_pre_hook(pre), first_pre);
  EXPECT_NE(fc->register_forward_hook(post), first);
  expect_error<IndexError>([&] { fc->remove_forward_hook(first); }, "has no hook");
  expect_error<IndexError>([&] { fc->remove_forward_pre_hook(first_pre); }, "has no hook");
}

TEST(Module, WrappersRunTheHooksOfWhatTheyWrap) {
  nn::Linear fc(1, 1);
  fc->register_forward_hook([](nn::Module&, const Tensor&, const Tensor& y) { return y * 0 + 5; });
  const Tensor x = ones({2, 1});
  expect_values(nn::DataParallel(fc, {kCPU})(x), {5, 5});
  expect_values(nn::DataParallel(fc, {kCPU, kCPU})(x), {5, 5});
  expect_values(optim::AveragedModel(fc)(x), {5, 5});
}

}  // namespace
}  // namespace gradus
