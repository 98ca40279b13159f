// state_dict and load_state_dict of modules.
#include "tests/support.h"

namespace gradus {
namespace {

nn::Sequential make() {
  nn::Sequential net(nn::Linear(2, 3), nn::ReLU(), nn::Linear(3, 1));
  net->register_buffer("mean", zeros({2}));
  return net;
}

TEST(StateDict, HoldsParametersThenBuffers) {
  const nn::Sequential net = make();
  const auto state = net->state_dict();
  EXPECT_EQ(state.keys(),
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias", "mean"}));
  EXPECT_TRUE(state["0.weight"].is_alias_of(net->parameters()[0]));
  EXPECT_FALSE(state["0.weight"].requires_grad());
}

TEST(StateDict, LoadsValuesInPlace) {
  const nn::Sequential a = make(), b = make();
  b->to(kDouble);
  const Tensor weight = b->parameters()[0], view = weight.view({-1});
  b->load_state_dict(a->state_dict());
  EXPECT_TRUE(equal(weight, a->parameters()[0].to(kDouble)));
  EXPECT_TRUE(equal(view, weight.view({-1})));
  EXPECT_TRUE(weight.requires_grad());
}

TEST(StateDict, ListsWhatDoesNotFitAndChangesNothing) {
  const nn::Sequential net = make();
  const Tensor before = net->parameters()[0].detach().clone();
  OrderedDict<std::string, Tensor> values;
  values.insert("0.weight", zeros({3, 2}));
  values.insert("0.bias", zeros({4}));
  values.insert("mean", zeros({2}));
  values.insert("2.weight", zeros({1, 3}));
  values.insert("extra", zeros({1}));
  expect_error<ValueError>([&] { net->load_state_dict(values); },
                           "do not fit Sequential:\n  0.bias has shape [4], expected [3]"
                           "\n  2.bias is missing\n  extra is unknown");
  EXPECT_TRUE(equal(net->parameters()[0], before));
  expect_error<ValueError>([&] { net->load_state_dict(values, false); }, "0.bias has shape [4]");
  EXPECT_TRUE(equal(net->parameters()[0], before));
}

TEST(StateDict, WithoutStrictTakesWhatIsThere) {
  const nn::Sequential net = make();
  const Tensor bias = net->parameters()[1].detach().clone();
  OrderedDict<std::string, Tensor> values;
  values.insert("0.weight", ones({3, 2}));
  values.insert("extra", zeros({1}));
  net->load_state_dict(values, false);
  expect_values(net->parameters()[0], {1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(equal(net->parameters()[1], bias));
  values.insert("none", Tensor());
  expect_error<ValueError>([&] { net->load_state_dict(values, false); }, "'none' is undefined");
}

}  // namespace
}  // namespace gradus
