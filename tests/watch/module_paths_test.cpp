// ModulePaths: a path that is known is the one that a search would find.
#include "gradus/watch/guard/module_paths.h"

#include <gtest/gtest.h>

#include "gradus/nn/cloneable.h"

namespace gradus {
namespace {

using guarding::ModulePath, guarding::ModulePaths;

struct LeafImpl : nn::Cloneable<LeafImpl> {
  void reset() override {}
};
struct HolderImpl : nn::Cloneable<HolderImpl> {
  void reset() override {}
};

TEST(ModulePaths, FollowChangesOfTheTree) {
  const auto net = std::make_shared<HolderImpl>(), other = std::make_shared<HolderImpl>(),
             block = std::make_shared<HolderImpl>();
  const auto leaf = std::make_shared<LeafImpl>(), second = std::make_shared<LeafImpl>();
  net->register_module("block", block);
  block->register_module("leaf", leaf);
  other->register_module("theirs", leaf);
  ModulePaths paths;
  const auto path = [&](std::initializer_list<const nn::Module*> calls) {
    const nn::Module* holder = nullptr;
    std::shared_ptr<ModulePath> at;
    for (const nn::Module* each : calls) {
      at = paths.find(holder, at.get(), *each);
      holder = each;
    }
    return at->text;
  };
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(path({net.get()}), "Holder");
    EXPECT_EQ(path({net.get(), block.get()}), "block (Holder)");
    EXPECT_EQ(path({net.get(), block.get(), leaf.get()}), "block.leaf (Leaf)");
    EXPECT_EQ(path({net.get(), leaf.get()}), "block.leaf (Leaf)");  // of a deeper one
    EXPECT_EQ(path({other.get(), leaf.get()}), "theirs (Leaf)");    // which has two holders
    EXPECT_EQ(path({block.get(), leaf.get()}), "leaf (Leaf)");
    EXPECT_EQ(path({other.get(), block.get()}), "Holder");  // which is not below it
  }
  block->replace_module("leaf", second);
  EXPECT_EQ(path({net.get(), block.get(), leaf.get()}), "Leaf");
  EXPECT_EQ(path({net.get(), block.get(), second.get()}), "block.leaf (Leaf)");
  block->unregister_module("leaf");
  block->register_module("moved", second);
  EXPECT_EQ(path({net.get(), block.get(), second.get()}), "block.moved (Leaf)");
}

}  // namespace
}  // namespace gradus
