// Storages that wait for what is on its way to them, and parts of blocks.
#include "gradus/tensor/arrival.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/storage_slice.h"
#include "tests/support.h"

namespace gradus {
namespace {

struct Counted final : Arrival {
  explicit Counted(int calls) : left(calls) {}
  bool await() override { return --left <= 0; }
  int left;
};

TEST(Storage, AwaitsWhatArrivesUntilItIsThere) {
  const Tensor x = zeros({3});
  const auto arrival = std::make_shared<Counted>(2);
  x.impl().storage->expect(arrival);
  EXPECT_EQ(arrival->left, 2);  // nobody has asked
  x.data_ptr();
  EXPECT_EQ(arrival->left, 1);
  EXPECT_TRUE(x.impl().storage->is_arriving());
  x.data_ptr();
  EXPECT_FALSE(x.impl().storage->is_arriving());
  x.data_ptr();
  EXPECT_EQ(arrival->left, 0);
}

TEST(Storage, OfAViewIsAwaitedToo) {
  const Tensor x = zeros({3, 2}), view = x.t().select(0, 1);
  const auto arrival = std::make_shared<Counted>(1);
  x.impl().storage->expect(arrival);
  EXPECT_EQ((view + 1).sum().item<float>(), 3);
  EXPECT_EQ(arrival->left, 0);
}

struct Failing final : Arrival {
  bool await() override { fail<Error>("the network is gone"); }
};

TEST(Storage, TellsWhatWentWrong) {
  const Tensor x = zeros({3});
  x.impl().storage->expect(std::make_shared<Failing>());
  expect_error<Error>([&] { x + 1; }, "the network is gone");
  expect_error<Error>([&] { x.data_ptr(); }, "the network is gone");
}

TEST(StorageSlice, IsAPartOfABlock) {
  const Tensor block = arange(8, kFloat);
  const auto slice = std::make_shared<StorageSlice>(block.impl().storage, 8, 12);
  const Tensor part = raw::over_storage(slice, {3}, kFloat);
  EXPECT_TRUE(equal(part, tensor({2.f, 3.f, 4.f})));
  part.fill_(7);
  EXPECT_EQ(block.sum().item<float>(), 28 - 9 + 21);
  EXPECT_NE(slice->version(), block.impl().storage->version());
}

TEST(StorageSlice, MovesOutWithWhatItHolds) {
  Tensor block = arange(8, kFloat);
  const std::weak_ptr<StorageImpl> memory = block.impl().storage;
  const auto slice = std::make_shared<StorageSlice>(block.impl().storage, 8, 12);
  const Tensor part = raw::over_storage(slice, {3}, kFloat), view = part.narrow(0, 1, 2);
  slice->move_out();
  block.fill_(0);
  EXPECT_TRUE(equal(part, tensor({2.f, 3.f, 4.f})));
  EXPECT_TRUE(equal(view, tensor({3.f, 4.f})));
  block = Tensor();
  EXPECT_TRUE(memory.expired());  // it keeps the block no longer
}

TEST(Storage, IsSharedByTensors) {
  const Tensor x = arange(6, kInt).view({2, 3});
  const Storage memory = x.storage();
  EXPECT_EQ(memory.nbytes(), 24);
  EXPECT_EQ(memory.data<int>()[5], 5);
  EXPECT_EQ(memory.data_ptr().get(), x.data_ptr());
  EXPECT_TRUE(memory.is_alias_of(x[1].storage()));
  EXPECT_FALSE(memory.is_alias_of(x.clone().storage()));

  const Tensor all = empty({0}, kInt).set_(memory);
  expect_values(all, {0, 1, 2, 3, 4, 5});
  const Tensor part = empty({0}, kInt).set_(memory, 1, {2, 2}, {3, 1});
  expect_values(part, {1, 2, 4, 5});
  part.fill_(7);
  expect_values(x.view({6}), {0, 7, 7, 3, 7, 7});
  expect_error<ValueError>([&] { part.set_(memory, 1, {6}); }, "need a storage of 7 elements");
  expect_error<ValueError>([&] { part.set_(Storage()); }, "set_: source is an empty Storage");
  expect_values(part, {7, 7, 7, 7});
}

}  // namespace
}  // namespace gradus
