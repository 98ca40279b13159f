// What factories make, and what they refuse.
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Factories, FillTheirShape) {
  expect_values(zeros({2, 3}), std::vector<double>(6, 0), 0);
  expect_values(ones({2}, kLong), {1, 1}, 0);
  expect_values(full({3}, 2.5), {2.5, 2.5, 2.5}, 0);
  expect_values(eye(2), {1, 0, 0, 1}, 0);
  expect_values(eye(2, 3), {1, 0, 0, 0, 1, 0}, 0);
  expect_values(eye(3, 2), {1, 0, 0, 1, 0, 0}, 0);
  EXPECT_EQ(zeros({0, 4}).numel(), 0);
  EXPECT_EQ(zeros({}).dim(), 0);
  EXPECT_EQ(eye(0).numel(), 0);
}

TEST(Factories, TakeTheirDtypeFromValuesAndOptions) {
  EXPECT_EQ(zeros({1}).dtype(), kFloat);
  EXPECT_EQ(full({1}, 3).dtype(), kLong);
  EXPECT_EQ(full({1}, true).dtype(), kBool);
  EXPECT_EQ(full({1}, 3, kDouble).dtype(), kDouble);
  EXPECT_EQ(arange(3).dtype(), kLong);
  EXPECT_EQ(arange(3.0).dtype(), kFloat);
  EXPECT_EQ(randint(3, {2}).dtype(), kLong);
  EXPECT_EQ(zeros_like(ones({2}, kLong)).dtype(), kLong);
  EXPECT_EQ(zeros_like(ones({2}, kLong), kDouble).dtype(), kDouble);
  EXPECT_TRUE(zeros({2}, requires_grad()).requires_grad());
  EXPECT_FALSE(zeros_like(zeros({2}, requires_grad())).requires_grad());
}

TEST(Factories, ArangeStopsBelowItsEnd) {
  expect_values(arange(4), {0, 1, 2, 3}, 0);
  expect_values(arange(1, 7, 2), {1, 3, 5}, 0);
  expect_values(arange(5, 0, -2), {5, 3, 1}, 0);
  expect_values(arange(0, 1, 0.25), {0, 0.25, 0.5, 0.75}, 0);
  EXPECT_EQ(arange(0).numel(), 0);
  expect_error<ValueError>([] { arange(0, 3, 0); }, "arange: step is 0");
  expect_error<ValueError>([] { arange(0, 3, -1); }, "leads away from end");
  expect_error<ValueError>([] { arange(INFINITY); }, "must be finite");
}

TEST(Factories, TensorTakesNumbersListsAndVectors) {
  EXPECT_EQ(tensor(1.5).dim(), 0);
  const Tensor nested = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  EXPECT_EQ(nested.sizes(), IntArrayRef({2, 3}));
  expect_values(nested, {1, 2, 3, 4, 5, 6}, 0);
  EXPECT_EQ(tensor({1, 2}).dtype(), kLong);
  EXPECT_EQ(tensor({true, false}).dtype(), kBool);
  EXPECT_EQ(tensor({1.0, 2.0}).dtype(), kFloat);
  EXPECT_EQ(tensor(std::vector<double>{}).sizes(), IntArrayRef({0}));
  EXPECT_EQ(tensor({{{1}, {2}}}).sizes(), IntArrayRef({1, 2, 1}));
  expect_error<ValueError>(
      [] {
        tensor({{1, 2}, {3}});
      },
      "all rows of a level need the same shape");
}

TEST(Factories, FromBlobSharesTheCallersMemory) {
  std::vector<float> memory = {1, 2, 3, 4};
  Tensor x = from_blob(memory.data(), {2, 2});
  x.mul_(2);
  EXPECT_EQ(memory[3], 8);
  memory[0] = -1;
  EXPECT_EQ(x[0][0].item<float>(), -1);
  int released = 0;
  {
    const Tensor y = from_blob(memory.data(), {4}, [&](void* p) {
                       released += p == memory.data();
                     }).view({2, 2})[1];
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  expect_error<ValueError>([] { from_blob(nullptr, {2}); }, "from_blob: data is null");
}

TEST(Factories, RefuseWhatHasNoMeaning) {
  expect_error<ValueError>([] { zeros({-1}); }, "negative size -1");
  expect_error<TypeError>([] { rand({2}, kLong); }, "use randint for integers");
  expect_error<ValueError>([] { randint(3, 3, {1}); }, "low = 3 is not below high = 3");
  expect_error<ValueError>([] { randperm(-1); }, "n = -1 is negative");
  expect_error<ValueError>([] { zeros({int64_t{1} << 61}, kDouble); }, "bytes");
  expect_error<OutOfMemoryError>([] { zeros({int64_t{1} << 58}); }, "");
}

TEST(Undefined, SaysWhatItIs) {
  const Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  expect_error<Error>([&] { nothing.sizes(); }, "an undefined Tensor was used");
  expect_error<Error>([&] { nothing + 1; }, "an undefined Tensor was used");
  expect_error<ValueError>([] { ones({2}).item(); },
                           "item: the tensor of shape [2] has 2 elements");
  expect_error<TypeError>([] { ones({2}).data_ptr<int64_t>(); },
                          "the tensor has dtype float32, and int64 was asked for");
}

}  // namespace
}  // namespace gradus
