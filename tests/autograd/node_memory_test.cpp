// Memory of nodes and of what autograd keeps beside tensors: a thread takes again what it freed.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "gradus/autograd/engine/meta.h"
#include "gradus/gradus.h"
#include "gradus/tensor/base/recycled.h"
#include "tests/support.h"

namespace gradus {
namespace {

// Nodes of two types, and of two sizes that count as one.
struct Plain : Node {
  Tensors apply(Tensors&& grads) override { return std::move(grads); }
};
struct Wider : Plain {
  char more[32];
};

TEST(NodeMemory, ServesTheNextNodeOfAboutTheSize) {
  if (kSanitized) GTEST_SKIP() << "sanitizers see all memory freed";
  const void* const freed = make_node<Plain>().get();
  EXPECT_EQ(make_node<Wider>().get(), freed);
  std::thread([&] { EXPECT_NE(make_node<Wider>().get(), freed); }).join();
}

TEST(NodeMemory, IsKeptForAsManyNodesAsAStepHas) {
  if (kSanitized) GTEST_SKIP() << "sanitizers see all memory freed";
  std::set<const void*> seen;
  for (int step = 0; step < 3; ++step) {
    std::vector<std::shared_ptr<Plain>> graph(200);
    for (auto& node : graph) seen.insert((node = make_node<Plain>()).get());
  }
  EXPECT_EQ(seen.size(), 200u);
}

TEST(NodeMemory, OfMetaIsTakenAgain) {
  if (kSanitized) GTEST_SKIP() << "sanitizers see all memory freed";
  AutogradMeta* const memory = Recycled<AutogradMeta>().allocate(1);
  Recycled<AutogradMeta>().deallocate(memory, 1);
  const Tensor x = ones({1}, requires_grad());
  EXPECT_EQ(meta_of(x), memory);
}

TEST(NodeMemory, ANodeMayBeFreedOnAnotherThread) {
  Tensor y = ones({1}, requires_grad()).exp();
  std::thread([&] { y = Tensor(); }).join();
  const Tensor x = ones({1}, requires_grad());
  x.exp().backward();
  expect_values(x.grad(), {std::exp(1.0)});
}

}  // namespace
}  // namespace gradus
