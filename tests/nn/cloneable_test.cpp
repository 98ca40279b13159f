// clone() of modules and of trees of them.
#include "tests/support.h"

namespace gradus {
namespace {

struct BlockImpl : nn::Cloneable<BlockImpl> {
  explicit BlockImpl(int64_t width_) : width(width_) { reset(); }
  void reset() override {
    fc = register_module("fc", nn::Linear(width, width));
    scale = register_parameter("scale", ones({width}));
    seen = register_buffer("seen", zeros({1}, kLong));
    count = 7;
  }
  Tensor forward(const Tensor& x) { return fc(x).relu() * scale; }
  int64_t width, count = 0;
  nn::Linear fc{nullptr};
  Tensor scale, seen;
};
GRADUS_MODULE(Block);

struct ClonedNetImpl : nn::Cloneable<ClonedNetImpl> {
  ClonedNetImpl() { reset(); }
  void reset() override {
    block = register_module("block", Block(3));
    tail =
        register_module("tail", nn::Sequential({{"act", nn::ReLU()}, {"out", nn::Linear(3, 2)}}));
  }
  Tensor forward(const Tensor& x) { return tail->forward(block(x)); }
  Block block{nullptr};
  nn::Sequential tail{nullptr};
};
GRADUS_MODULE(ClonedNet);

void expect_equal_values(const nn::Module& a, const nn::Module& b) {
  const auto left = a.named_parameters(), right = b.named_parameters();
  ASSERT_EQ(left.keys(), right.keys());
  for (const auto& item : left) {
    const Tensor& other = right[item.key()];
    EXPECT_TRUE(equal(item.value(), other)) << item.key();
    EXPECT_FALSE(item.value().is_same(other)) << item.key();
    EXPECT_FALSE(item.value().is_alias_of(other)) << item.key();
    EXPECT_EQ(item.value().requires_grad(), other.requires_grad()) << item.key();
    EXPECT_TRUE(other.is_leaf()) << item.key();
  }
  EXPECT_EQ(a.named_buffers().keys(), b.named_buffers().keys());
}

TEST(Cloneable, CopiesEveryLayerDeeply) {
  const nn::Linear fc(nn::LinearOptions(3, 2).bias(false));
  const auto fc2 = std::dynamic_pointer_cast<nn::LinearImpl>(fc->clone());
  ASSERT_NE(fc2, nullptr);
  expect_equal_values(*fc, *fc2);
  EXPECT_FALSE(fc2->bias.defined());
  EXPECT_TRUE(fc2->weight.is_same(fc2->parameters()[0]));
  EXPECT_EQ(nn::ReLU()->clone()->name(), "ReLU");
  const nn::MSELoss sum(kSum);
  const auto sum2 = std::dynamic_pointer_cast<nn::MSELossImpl>(sum->clone());
  EXPECT_EQ(sum2->options.reduction(), kSum);
  const auto none = std::dynamic_pointer_cast<nn::CrossEntropyLossImpl>(
      nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().reduction(kNone))->clone());
  EXPECT_EQ(none->options.reduction(), kNone);
}

TEST(Cloneable, CopiesATreeOfModules) {
  const ClonedNet net;
  net->block->seen.fill_(5);
  net->block->count = 9;
  net->tail->eval();
  net->block->fc->weight.set_requires_grad(false);
  const auto copy = std::dynamic_pointer_cast<ClonedNetImpl>(net->clone());
  expect_equal_values(*net, *copy);
  expect_values(copy->block->seen, {5});
  EXPECT_EQ(copy->block->count, 7);  // reset() has set it
  EXPECT_TRUE(copy->is_training());
  EXPECT_FALSE(copy->tail->is_training());
  EXPECT_FALSE((*copy->tail)[1]->is_training());
  EXPECT_EQ(copy->tail->named_children().keys(), (std::vector<std::string>{"act", "out"}));
  const Tensor x = randn({4, 3});
  EXPECT_TRUE(equal(net(x), copy->forward(x)));
  // The copy stands alone.
  copy->block->scale.detach().mul_(2);
  expect_values(net->block->scale, {1, 1, 1});
  EXPECT_TRUE(copy->block->scale.is_same(copy->named_parameters()["block.scale"]));
}

TEST(Cloneable, KeepsDtypes) {
  const ClonedNet net;
  net->to(kDouble);
  const auto copy = net->clone();
  for (const Tensor& p : copy->parameters()) EXPECT_EQ(p.dtype(), kDouble);
  EXPECT_EQ(copy->buffers()[0].dtype(), kLong);
}

TEST(Cloneable, GoesToADevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const ClonedNet net;
  const auto copy = std::dynamic_pointer_cast<ClonedNetImpl>(net->clone(Device(kCUDA, 0)));
  for (const Tensor& p : copy->parameters()) EXPECT_EQ(p.device(), Device(kCUDA, 0));
  EXPECT_EQ(copy->buffers()[0].device(), Device(kCUDA, 0));
  const Tensor x = randn({2, 3});
  expect_values(copy->forward(x.to(kCUDA)), to_vector(net(x)), 1e-5);
}

struct PlainImpl : nn::Module {
  PlainImpl() { register_parameter("w", ones({1})); }
  Tensor forward(const Tensor& x) { return x; }
};
GRADUS_MODULE(Plain);

TEST(Cloneable, AModuleThatIsNotSaysSo) {
  expect_error<Error>([] { Plain()->clone(); }, "clone() has not been implemented for ");
  expect_error<Error>([] { Plain()->clone(); }, "instead of nn::Module to inherit the ability");
  expect_error<Error>([] { nn::SequentialImpl(Plain()).clone(); }, "has not been implemented");
}

struct ForgetfulImpl : nn::Cloneable<ForgetfulImpl> {
  ForgetfulImpl() { w = register_parameter("w", ones({1})); }
  void reset() override {}
  Tensor w;
};

TEST(Cloneable, RegistrationOutsideOfResetIsAnError) {
  expect_error<Error>([] { std::make_shared<ForgetfulImpl>()->clone(); },
                      "register_parameter() inside reset()");
}

struct FickleImpl : nn::Cloneable<FickleImpl> {
  FickleImpl() { reset(); }
  void reset() override {
    if (std::exchange(first, false))
      register_module("part", nn::Linear(2, 2));
    else
      register_module("part", nn::ReLU());
  }
  bool first = true;
};

TEST(Cloneable, ASubmoduleOfAnotherClassIsAnError) {
  expect_error<Error>([] { std::make_shared<FickleImpl>()->clone(); }, "of another class");
}

// The type of a device alone stands for its current one, on which the module may be already.
TEST(Cloneable, SharesNothingOnTheSameDevice) {
  for (const DeviceType type : {kCPU, kCUDA}) {
    if (type == kCUDA && !cuda::is_available()) continue;
    nn::Linear fc(2, 3);
    fc->to(type);
    const auto copy = fc->clone(Device(type));
    expect_equal_values(*fc, *copy);
    nn::ParameterList list(ones({2}).to(type));
    const auto list_copy = std::dynamic_pointer_cast<nn::ParameterListImpl>(list->clone(type));
    expect_equal_values(*list, *list_copy);
    const NoGradGuard guard;
    for (const Tensor& p : fc->parameters()) Tensor(p).fill_(7);
    for (const Tensor& p : copy->parameters()) EXPECT_FALSE(p.eq(7).any().item<bool>());
  }
}

}  // namespace
}  // namespace gradus
