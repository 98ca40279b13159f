// Hooks of tensors and of nodes, and the properties of nodes.
#include "gradus/autograd/engine/node.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Hooks, SeeAndReplaceGradients) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor h = x * 3;
  double seen = 0;
  const unsigned handle = h.register_hook([&](const Tensor& grad) {
    seen = grad.item<double>();
    return grad * 10;
  });
  (h * h).sum().backward({}, true);
  EXPECT_EQ(seen, 12);
  expect_values(x.grad(), {360});
  h.remove_hook(handle);
  expect_error<ValueError>([&] { h.remove_hook(handle); }, "has no hook");
}

TEST(Hooks, OnALeafRunBeforeAccumulation) {
  const Tensor x = tensor({2.0}, requires_grad());
  x.register_hook([](const Tensor& grad) { return grad * 2; });
  (x * 5).sum().backward();
  expect_values(x.grad(), {10});
}

TEST(Hooks, AfterAccumulationSeeTheLeafAndMayFreeItsGradient) {
  const Tensor x = tensor({2.0}, requires_grad()), y = x * 1;
  std::string order;
  x.register_hook([&](const Tensor& grad) {
    order += "before ";
    return grad * 2;
  });
  const unsigned handle = x.register_post_accumulate_grad_hook([&](Tensor leaf) {
    EXPECT_TRUE(leaf.is_same(x));
    order += "after ";
    const NoGradGuard guard;
    leaf.sub_(leaf.grad());
    leaf.mutable_grad() = Tensor();
  });
  x.register_post_accumulate_grad_hook([&](const Tensor& leaf) {
    order += leaf.grad().defined() ? "whole" : "freed";
    return ones({7});  // is left out
  });
  (x * 5 + x * 2).sum().backward();
  EXPECT_EQ(order, "before after freed");
  expect_values(x, {2 - 14});
  EXPECT_FALSE(x.grad().defined());
  autograd::grad({(x * 3).sum()}, {x});  // adds to no grad()
  EXPECT_EQ(order, "before after freedbefore ");
  x.remove_hook(handle);
  (x * 5).sum().backward();
  EXPECT_EQ(order, "before after freedbefore before whole");
  expect_error<Error>([&] { y.register_post_accumulate_grad_hook([](const Tensor&) {}); },
                      "post accumulate grad hooks cannot be registered on non-leaf tensors");
  expect_error<Error>([&] { ones({2}).register_post_accumulate_grad_hook([](const Tensor&) {}); },
                      "on a variable that doesn't require gradient");
}

TEST(Hooks, QueueCallbackRunsAtTheEndOfTheOutermostPass) {
  Tensor x = ones({2}).requires_grad_(), z = ones({2}).requires_grad_();
  std::string order;
  Tensor y = x * 2;
  y.register_hook([&](const Tensor&) {
    autograd::queue_callback([&] {
      order += x.grad().defined() ? "end " : "early ";
      autograd::queue_callback([&] { order += "later "; });
    });
    const AutoGradMode records(true);
    Tensor inner = z * 3;
    inner.register_hook(
        [&](const Tensor&) { autograd::queue_callback([&] { order += "of the inner pass "; }); });
    inner.sum().backward();
    order += "hook ";
  });
  y.sum().backward();
  EXPECT_EQ(order, "hook end of the inner pass later ");
  expect_error<Error>([] { autograd::queue_callback([] {}); }, "no backward pass runs");
  Tensor w = x * 2;
  w.register_hook(
      [&](const Tensor&) { autograd::queue_callback([] { throw ValueError("late"); }); });
  expect_error<ValueError>([&] { w.sum().backward(); }, "late");
  x.sum().backward();  // nothing is left of it
}

TEST(Hooks, RetainGradKeepsTheGradientOfANonLeaf) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor h = x * 3;
  h.retain_grad();
  (h * h).sum().backward();
  expect_values(h.grad(), {12});
}

TEST(Hooks, MayReturnNothing) {
  const Tensor x = tensor({2.0}, requires_grad());
  double seen = 0;
  x.register_hook([&](const Tensor& grad) { seen = grad.item<double>(); });
  x.register_hook([&](Tensor grad) -> void { seen += grad.item<double>(); });
  (x * 5).sum().backward();
  EXPECT_EQ(seen, 10);
  expect_values(x.grad(), {5});
}

TEST(Hooks, RunInOrderAndBeforeTheGradientIsRetained) {
  const Tensor h = tensor({1.0}, requires_grad()) * 1;
  h.retain_grad();
  EXPECT_TRUE(h.retains_grad());
  h.register_hook([](const Tensor& grad) { return grad + 1; });
  h.register_hook([](const Tensor& grad) { return grad * 10; });
  (h * 2).sum().backward();
  expect_values(h.grad(), {30});
}

TEST(Hooks, MayRemoveThemselvesAndChangeWhatGradReturns) {
  const Tensor x = tensor({1.0}, requires_grad());
  const Tensor h = x * 3;
  unsigned handle = 0;
  handle = h.register_hook([&](const Tensor& grad) {
    h.remove_hook(handle);
    return grad * 2;
  });
  const Tensor y = h.sum();
  expect_values(autograd::grad({y}, {h}, {}, true)[0], {2});
  expect_values(autograd::grad({y}, {h})[0], {1});
}

TEST(Hooks, RefuseWhatIsNoGradientOfTheTensor) {
  const Tensor x = ones({2}, requires_grad());
  const Tensor shape = x * 1, type = x * 1;
  shape.register_hook([](const Tensor&) { return ones({1}); });
  type.register_hook([](const Tensor& grad) { return grad.to(kDouble); });
  expect_error<Error>([&] { shape.sum().backward(); },
                      "a hook has changed the gradient of output 0");
  expect_error<Error>([&] { type.sum().backward(); },
                      "from float32 [2] on cpu to float64 [2] on cpu");
  expect_error<Error>([&] { ones({2}).register_hook([](const Tensor&) {}); },
                      "cannot register a hook on a variable that doesn't require gradient");
  expect_error<Error>([&] { ones({2}).retain_grad(); }, "requires_grad=False");
  EXPECT_FALSE(x.grad().defined());
}

struct Scale : autograd::FunctionPreHook {
  explicit Scale(double by) : factor(by) {}
  Tensors operator()(const Tensors& grads) override { return {grads[0] * factor}; }
  double factor;
};

struct Record : autograd::FunctionPostHook {
  explicit Record(Tensors* to) : seen(to) {}
  Tensors operator()(const Tensors& outputs, const Tensors& inputs) override {
    *seen = {outputs[0], inputs[0]};
    return {outputs[0] + 1};
  }
  Tensors* seen;
};

TEST(Hooks, OfNodesSeeAndReplaceWhatGoesInAndOut) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor y = x * 3;
  Tensors seen;
  y.grad_fn()->add_pre_hook(std::make_unique<Scale>(10));
  const uintptr_t handle = y.grad_fn()->add_post_hook(std::make_unique<Record>(&seen));
  y.sum().backward({}, true);
  expect_values(seen[0], {30});
  expect_values(seen[1], {10});
  expect_values(x.grad(), {31});
  EXPECT_TRUE(y.grad_fn()->del_post_hook(handle));
  EXPECT_FALSE(y.grad_fn()->del_post_hook(handle));
  autograd::clear_grad(x, true);
  y.sum().backward();
  expect_values(x.grad(), {30});
}

TEST(Hooks, OfAnAccumulatorRunAfterTheLeafHasItsGradient) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor y = x * 3;
  struct Look : autograd::FunctionPostHook {
    Look(Tensor leaf, double* to) : x(std::move(leaf)), seen(to) {}
    Tensors operator()(const Tensors& outputs, const Tensors&) override {
      *seen = x.grad().item<double>();
      return outputs;
    }
    Tensor x;
    double* seen;
  };
  double seen = 0;
  y.grad_fn()->next_edge(0).function->add_post_hook(std::make_unique<Look>(x, &seen));
  y.sum().backward();
  EXPECT_EQ(seen, 3);
}

TEST(Nodes, TellTheirNamesEdgesAndPlaces) {
  const Tensor x = ones({2, 3}, requires_grad()), w = ones({3});
  const Tensor y = x * w, z = y.sum();
  const auto& node = z.grad_fn();
  EXPECT_EQ(node->name(), "SumBackward0");
  EXPECT_EQ(node->num_inputs(), 1u);
  EXPECT_EQ(node->num_outputs(), 1u);
  EXPECT_EQ(node->next_edges().size(), 1u);
  EXPECT_EQ(node->next_edge(0).function, y.grad_fn());
  EXPECT_EQ(node->next_edge(0).input_nr, 0u);
  EXPECT_EQ(node->getptr(), node);
  const auto& product = *y.grad_fn();
  EXPECT_EQ(product.num_outputs(), 2u);
  EXPECT_TRUE(product.should_compute_output(0));
  EXPECT_FALSE(product.should_compute_output(1));
  EXPECT_TRUE(product.should_compute_output({{0, 2}}));
  EXPECT_FALSE(product.should_compute_output({{1, 2}}));
  expect_error<IndexError>([&] { product.should_compute_output(2); }, "has 2 outputs");
  EXPECT_LT(product.sequence_nr(), node->sequence_nr());
  const auto& leaf = product.next_edge(0).function;
  EXPECT_EQ(leaf->name(), "torch::autograd::AccumulateGrad");
  EXPECT_EQ(leaf->num_outputs(), 0u);
  EXPECT_EQ(leaf->sequence_nr(), UINT64_MAX);
}

// A node that a program derives from Node, as in libtorch.
struct Twice : autograd::Node {
  Tensors apply(Tensors&& grads) override { return {grads[0] * 2}; }
};

TEST(Nodes, CanBeCalledByThemselves) {
  const auto node = std::shared_ptr<Twice>(new Twice(), autograd::deleteNode);
  node->add_next_edge({});
  node->set_next_edge(0, autograd::Edge{});
  node->set_next_edges({autograd::Edge{}, autograd::Edge{}});
  EXPECT_EQ(node->num_outputs(), 2u);
  EXPECT_NE(node->name().find("Twice"), std::string::npos);
  expect_values((*node)({ones({2})})[0], {2, 2});
}

TEST(SetData, ShowsOtherMemoryAndKeepsGradAndHandle) {
  const Tensor x = ones({2}, requires_grad());
  const Tensor alias = x;
  x.sum().backward();
  x.set_data(full({3}, 2.0, dtype(kDouble)));
  expect_values(alias, {2, 2, 2});
  EXPECT_TRUE(x.requires_grad());
  expect_values(x.grad(), {1, 1});
  x.mutable_grad() = Tensor();
  (x * x).sum().backward();
  expect_values(x.grad(), {4, 4, 4});
  expect_error<TypeError>([&] { x.set_data(ones({2}, kLong)); }, "needs a floating one");
}

}  // namespace
}  // namespace gradus
