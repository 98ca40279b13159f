// Results of factories, and arguments that they refuse.
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
  expect_error<ValueError>([] { arange(0, 3, 0); }, "arange: step must be nonzero");
  expect_error<ValueError>([] { arange(0, 3, -1); },
                           "arange: upper bound and larger bound inconsistent with step sign");
  expect_error<ValueError>([] { arange(INFINITY); }, "must be finite");
}

// PyTorch's numbers: an integer dtype drops the fractions of start and step first.
TEST(Factories, ArangeCountsInEveryDtype) {
  expect_values(arange(0, 5.5, 1.9, kLong), {0, 1, 2}, 0);
  expect_values(arange(0.5, 5, 1, kLong), {0, 1, 2, 3, 4}, 0);
  expect_values(arange(2, 9, 3, kByte), {2, 5, 8}, 0);
  expect_values(arange(1, -1, -0.5, kHalf), {1, 0.5, 0, -0.5}, 0);
  EXPECT_EQ(arange(3, kBFloat16).dtype(), kBFloat16);
  const int64_t large = (int64_t{1} << 62) + 1;
  const Tensor exact = arange(large, large + 5, 2);
  EXPECT_EQ(exact.numel(), 3);
  EXPECT_EQ(exact[2].item<int64_t>(), large + 4);
  expect_error<ValueError>([] { arange(0, 5, 0.5, kInt); }, "step 0.5 is 0 as int32");
  expect_error<TypeError>([] { arange(2, kBool); }, "dtype bool");
}

TEST(Factories, RangeIncludesItsEnd) {
  expect_values(range(0, 3, 0.5), {0, 0.5, 1, 1.5, 2, 2.5, 3}, 0);
  expect_values(range(0, 3), {0, 1, 2, 3}, 0);
  EXPECT_EQ(range(0, 3).dtype(), kFloat);
  EXPECT_EQ(range(0, 3, kLong).dtype(), kLong);
  expect_error<ValueError>(
      [] { range(0, 3, -1); },
      "range: upper bound and larger bound inconsistent with step sign: from 0 "
      "to 3 by -1");
}

TEST(Factories, LinspaceGoesEvenlyToItsEnd) {
  expect_values(linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1}, 0);
  expect_values(linspace(3, -3, 4, kDouble), {3, 1, -1, -3}, 1e-15);
  expect_values(linspace(0, 10, 5, kInt), {0, 2, 5, 7, 10}, 0);
  expect_values(linspace(0, -7, 5, kLong), {0, -1, -3, -5, -7}, 0);
  expect_values(linspace(0.5, 7, 5, kLong), {0, 1, 3, 5, 7}, 0);
  expect_values(linspace(2, 9, 1), {2}, 0);
  EXPECT_EQ(linspace(2, 9, 0).sizes(), IntArrayRef({0}));
  const double end = 1.0 / 3;
  for (int64_t steps = 2; steps < 50; ++steps)
    EXPECT_EQ(linspace(0.1, end, steps, kDouble)[-1].item<double>(), end);
  expect_error<ValueError>([] { linspace(0, 1, -1); },
                           "linspace: number of steps must be non-negative, not -1");
  expect_error<TypeError>([] { linspace(0, 1, 2, kBool); }, "linspace: dtype bool");
}

TEST(Factories, LogspaceGivesPowers) {
  expect_values(logspace(0, 3, 4), {1, 10, 100, 1000}, 1e-6);
  expect_values(logspace(-1, 2, 4, 2.0, kDouble), {0.5, 1, 2, 4}, 1e-15);
  expect_values(logspace(0, 2, 5, 10.0, kInt), {1, 3, 10, 31, 100}, 0);
}

TEST(Factories, TakeShapesDtypesAndDevicesFromTensors) {
  const Tensor x = ones({2, 3}, kDouble);
  expect_values(x.new_zeros({2}), {0, 0}, 0);
  expect_values(x.new_ones({2}, kLong), {1, 1}, 0);
  expect_values(x.new_full({1, 2}, 7), {7, 7}, 0);
  EXPECT_EQ(x.new_empty({4}).dtype(), kDouble);
  EXPECT_EQ(x.new_full({1}, true).dtype(), kDouble);
  EXPECT_EQ(x.new_empty_strided({2, 2}, {1, 2}).strides(), IntArrayRef({1, 2}));
  EXPECT_TRUE(x.new_ones({2}, requires_grad()).requires_grad());
  EXPECT_EQ(full_like(ones({2}, kLong), 2.5).dtype(), kLong);
  EXPECT_EQ(empty_like(x, kFloat, MemoryFormat::Preserve).sizes(), x.sizes());
  EXPECT_EQ(scalar_tensor(3).dtype(), kFloat);
  EXPECT_EQ(scalar_tensor(3, kLong).dim(), 0);
}

TEST(Factories, EmptyStridedHasItsStrides) {
  Tensor x = empty_strided({2, 3}, {1, 4});
  EXPECT_EQ(x.strides(), IntArrayRef({1, 4}));
  EXPECT_FALSE(x.is_view());
  EXPECT_EQ(x.impl().storage->nbytes(), 10 * sizeof(float));
  expect_values(x.fill_(2), std::vector<double>(6, 2), 0);
  EXPECT_EQ(empty_strided({0, 3}, {5, 1}).numel(), 0);
  expect_error<ValueError>([] { empty_strided({2}, {-1}); }, "negative");
  expect_error<ValueError>([] { empty_strided({2}, {1, 1}); }, "differ in length");
}

TEST(Factories, TensorHasTheDtypeOfItsElements) {
  EXPECT_EQ(tensor(int8_t{3}).dtype(), kChar);
  EXPECT_EQ(tensor(uint8_t{3}).dtype(), kByte);
  EXPECT_EQ(tensor(int16_t{3}).dtype(), kShort);
  EXPECT_EQ(tensor(3).dtype(), kLong);
  EXPECT_EQ(tensor(3LL).dtype(), kLong);
  EXPECT_EQ(tensor(3.0f).dtype(), kFloat);
  EXPECT_EQ(tensor(3.0).dtype(), kFloat);
  EXPECT_EQ(tensor({Half(1), Half(2)}).dtype(), kHalf);
  EXPECT_EQ(tensor(std::vector<BFloat16>{1}).dtype(), kBFloat16);
  EXPECT_EQ(tensor(std::vector<int>{1, 2}).dtype(), kLong);
  EXPECT_EQ(tensor(std::vector<int16_t>{1, 2}).dtype(), kShort);
  EXPECT_EQ(tensor(std::vector<bool>{true}).dtype(), kBool);
  const std::array<int64_t, 2> memory = {5, 6};
  expect_values(tensor(ArrayRef<int64_t>(memory)), {5, 6}, 0);
  EXPECT_EQ(tensor({{}, {}}).sizes(), IntArrayRef({2, 0}));
  EXPECT_EQ(tensor({}).dtype(), kFloat);
  const std::vector<float> row = {1, 2};
  EXPECT_EQ(tensor({row, row}).sizes(), IntArrayRef({2, 2}));
  EXPECT_EQ(tensor({{{{1.5}}}}, kDouble).dim(), 4);
  set_default_dtype(kDouble);
  EXPECT_EQ(tensor({1.0f}).dtype(), kDouble);
  set_default_dtype(kFloat);
  expect_error<TypeError>(
      [] {
        tensor({1.0, 2.0f});
      },
      "tensor: Expected all elements of the tensor to have the same scalar type: Double, but got "
      "element of scalar type: Float; write all of them as one type");
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
        tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7}}});
      },
      "tensor: Expected all sub-lists to have sizes: 2 (e.g. {5, 6}), but got sub-list {7} with "
      "sizes: 1; give all rows of a level the same shape");
  expect_error<ValueError>(
      [] {
        tensor({{{1, 2}, {3, 4}}, {{5}, {6}}, {{}}});
      },
      "sizes: 2, 2 (e.g. {{1, 2}, {3, 4}}), but got sub-list {{5}, {6}} with sizes: 2, 1");
  expect_error<ValueError>(
      [] {
        tensor({{1.5}, {}});
      },
      "sizes: 1 (e.g. {1.5}), but got sub-list {} with sizes: 0");
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
  expect_error<Error>([&] { x.resize_({3, 3}); }, "storage that is not resizable: it has 16 bytes");
  EXPECT_EQ(x.sizes(), IntArrayRef({2, 2}));
}

TEST(Factories, FromBlobTakesStrides) {
  std::vector<double> memory = {0, 1, 2, 3, 4, 5};
  const Tensor columns = from_blob(memory.data(), {2, 3}, {1, 2}, kDouble);
  expect_values(columns, {0, 2, 4, 1, 3, 5}, 0);
  EXPECT_FALSE(columns.is_view());
  int released = 0;
  {
    const Tensor rows = from_blob(
        memory.data(), {2}, {3}, [&](void*) { ++released; }, requires_grad().dtype(kDouble));
    expect_values(rows, {0, 3}, 0);
    EXPECT_TRUE(rows.requires_grad());
  }
  EXPECT_EQ(released, 1);
  expect_error<ValueError>([&] { from_blob(memory.data(), {2}, {-1}); }, "negative");
}

TEST(Factories, RefuseWhatHasNoMeaning) {
  const Tensor x = ones({2});
  const std::pair<const char*, std::function<void()>> made[] = {
      {"empty", [] { empty({-1}); }},
      {"zeros", [] { zeros({-1}); }},
      {"ones", [] { ones({-1}); }},
      {"full", [] { full({-1}, 2); }},
      {"eye", [] { eye(-1); }},
      {"rand", [] { rand({-1}); }},
      {"randint", [] { randint(3, {-1}); }},
      {"normal", [] { normal(0, 1, {-1}); }},
      {"new_empty", [&] { x.new_empty({-1}); }},
      {"new_zeros", [&] { x.new_zeros({-1}); }},
      {"new_full", [&] { x.new_full({-1}, 2); }}};
  for (const auto& [name, make] : made)
    expect_error<ValueError>(
        make, std::string(name) + ": Trying to create tensor with negative dimension -1: [-1");
  expect_error<TypeError>([] { rand({2}, kLong); }, "use randint for integers");
  expect_error<ValueError>(
      [] { randint(3, 3, {1}); },
      "randint: random_ expects 'from' to be less than 'to', but got from=3 >= "
      "to=3");
  expect_error<ValueError>([] { randint(0, 300, {1}, kByte); }, "uint8 does not hold");
  expect_error<ValueError>([] { randperm(-1); }, "n must be non-negative, got -1");
  expect_error<ValueError>([] { zeros({int64_t{1} << 61}, kDouble); }, "bytes");
  expect_error<OutOfMemoryError>([] { zeros({int64_t{1} << 58}); }, "");
}

TEST(Factories, RefuseStridesThatReachBeyondAnInt64) {
  const int64_t far = int64_t{1} << 62;
  float number = 0;
  expect_error<ValueError>([&] { empty_strided({5}, {far}); },
                           "empty_strided: shape [5] of float32 with strides [");
  expect_error<ValueError>([&] { empty_strided({2}, {far}); }, "than an int64 counts");
  expect_error<ValueError>([&] { from_blob(&number, {5}, {far}); }, "than an int64 counts");
  EXPECT_EQ(empty_strided({0, 5}, {1, far}).numel(), 0);
}

TEST(Undefined, SaysWhatItIs) {
  const Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  expect_error<Error>([&] { nothing.strides(); }, "an undefined Tensor was used");
  EXPECT_EQ(nothing.sizes(), IntArrayRef({0}));
  EXPECT_EQ(nothing.numel(), 0);
  const Tensor x = ones({2});
  const std::pair<const char*, std::function<void()>> used[] = {
      {"add: self", [&] { nothing + 1; }},
      {"add: self", [&] { nothing + x; }},
      {"add: other", [&] { x + nothing; }},
      {"add: other", [&] { x.clone().add_(nothing); }},
      {"add: self", [&] { nothing.add_(x); }},
      {"exp: self", [&] { nothing.exp(); }},
      {"pow: self", [&] { nothing.pow(2); }},
      {"zero: self", [&] { nothing.zero_(); }},
      {"copy_: src", [&] { x.clone().copy_(nothing); }},
      {"item: self", [&] { nothing.item(); }},
      {"sum: self", [&] { sum(nothing, 1); }},
      {"view: self", [&] { nothing.view({0}); }},
      {"permute: self", [&] { nothing.permute({0}); }},
      {"matmul: other", [&] { matmul(x, nothing); }},
      {"mm: self", [&] { mm(nothing, x); }},
      {"softmax: self", [&] { softmax(nothing, 0); }},
      {"where: other", [&] { where(x > 0, x, nothing); }},
      {"cat: one of the tensors",
       [&] {
         cat({x, nothing});
       }},
      {"stack: one of the tensors",
       [&] {
         stack({x, nothing});
       }},
      {"einsum: an operand", [&] { einsum("i->i", {nothing}); }},
      {"linear: input", [&] { nn::functional::linear(nothing, x); }},
      {"linear: weight", [&] { nn::functional::linear(x, nothing); }},
      {"index_select: index", [&] { x.index_select(0, nothing); }},
      {"backward: self", [&] { nothing.backward(); }},
      {"to: self", [&] { nothing.to(kDouble); }},
      {"detach: self", [&] { nothing.detach(); }}};
  for (const auto& [what, use] : used)
    expect_error<Error>(use, std::string(what) + " is undefined; it was default-constructed");
  expect_error<ValueError>([] { ones({2}).item(); },
                           "item: a Tensor with 2 elements cannot be converted to Scalar; expected "
                           "one, not shape [2]");
  expect_error<TypeError>([] { ones({2}).data_ptr<int64_t>(); },
                          "data_ptr: expected scalar type Long but found Float");
}

TEST(Windows, FollowTheirOptions) {
  const Tensor x = kaiser_window(9, false, 2.0, TensorOptions(kDouble).requires_grad(true));
  EXPECT_TRUE(x.requires_grad() && x.is_leaf());
  EXPECT_EQ(x.dtype(), kDouble);
  EXPECT_TRUE(equal(x.detach(), x.detach().flip({0})));  // symmetric
  // Periodic: the longer symmetric one without its end.
  EXPECT_TRUE(
      equal(blackman_window(8, kDouble), blackman_window(9, false, kDouble).narrow(0, 0, 8)));
  expect_error<ValueError>([] { bartlett_window(-2); },
                           "requires non-negative window_length, got window_length=-2");
  expect_error<TypeError>([] { hann_window(3, kInt); }, "floating point");
  if (!cuda::is_available()) return;
  const Tensor there = hamming_window(7, TensorOptions(kCUDA));
  EXPECT_TRUE(there.is_cuda() && there.cpu().allclose(hamming_window(7)));
}

}  // namespace
}  // namespace gradus
