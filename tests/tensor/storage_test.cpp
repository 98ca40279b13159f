// Storages that wait for what is on its way to them, and parts of blocks.
#include "gradus/tensor/raw.h"
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
  const std::weak_ptr<Storage> memory = block.impl().storage;
  const auto slice = std::make_shared<StorageSlice>(block.impl().storage, 8, 12);
  const Tensor part = raw::over_storage(slice, {3}, kFloat), view = part.narrow(0, 1, 2);
  slice->move_out();
  block.fill_(0);
  EXPECT_TRUE(equal(part, tensor({2.f, 3.f, 4.f})));
  EXPECT_TRUE(equal(view, tensor({3.f, 4.f})));
  block = Tensor();
  EXPECT_TRUE(memory.expired());  // it keeps the block no longer
}

}  // namespace
}  // namespace gradus
