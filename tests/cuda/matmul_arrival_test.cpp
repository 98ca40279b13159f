// Products whose right side is still arriving.
#include <cmath>
#include <cstring>
#include <limits>

#include "gradus/tensor/raw/raw.h"
#include "tests/cuda/gpu_test.h"
#include "tests/random.h"

namespace gradus {
namespace {

using test::pick;
using MatmulArrivalTest = GpuTest;

// Memory of a tensor that has its own ways to wait for it.
class Window final : public StorageImpl {
 public:
  explicit Window(const Tensor& memory)
      : StorageImpl(memory.data_ptr(), memory.nbytes(), memory.device()), memory_(memory) {}

 private:
  Tensor memory_;
};

// The first columns of a matrix: copied there when they are awaited, and no sooner.
class CopyWhenAwaited final : public Arrival {
 public:
  CopyWhenAwaited(Tensor to, Tensor from, size_t number, std::vector<size_t>& awaited)
      : to_(std::move(to)), from_(std::move(from)), number_(number), awaited_(awaited) {}
  bool await() override {
    awaited_.push_back(number_);
    raw::copy_(to_, from_);
    return false;
  }

 private:
  Tensor to_, from_;
  size_t number_;
  std::vector<size_t>& awaited_;
};

Tensor random_numbers(IntArrayRef sizes, ScalarType dtype) {
  const Tensor x = raw::empty({numel_of(sizes)}, kLong, kCPU);
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<int64_t>()[i] = pick(-1000000, 1000000);
  const Tensor numbers = raw::to(raw::to(x, dtype), kCUDA);
  raw::zip_(BinaryOp::mul, numbers, dtype == kLong ? Scalar(3) : Scalar(1e-6));
  return *raw::try_view(numbers, sizes);
}

// linear(x, weight, bias), of the columns of `memory` from `col` on, where its memory arrives up to
// each of these columns, has the bits that it has without waiting. Returns which of these parts it
// has waited for.
std::vector<size_t> expect_same_bits(const Tensor& x, const Tensor& memory, int64_t row,
                                     int64_t col, const Tensor& bias,
                                     const std::vector<int64_t>& ends) {
  const auto weight_of = [&](const Tensor& all) {
    const Tensor rows = raw::narrow(all, 0, row, all.size(0) - row);
    return raw::narrow(rows, 1, col, all.size(1) - col);
  };
  const Tensor expected = raw::to(raw::linear(x, weight_of(memory), bias), kCPU);
  const Tensor arriving = raw::empty(memory.sizes(), memory.scalar_type(), memory.device());
  raw::fill_(arriving, memory.dtype() == kLong ? Scalar(-987654321) : Scalar(std::nan("")));
  std::vector<size_t> awaited;
  Arrival::Parts parts{static_cast<size_t>(memory.size(1)) * memory.itemsize(), {}};
  for (const int64_t end : ends)
    parts.all.push_back({static_cast<size_t>(end) * memory.itemsize(),
                         std::make_shared<CopyWhenAwaited>(raw::narrow(arriving, 1, 0, end),
                                                           raw::narrow(memory, 1, 0, end),
                                                           parts.all.size(), awaited)});
  const auto window = std::make_shared<Window>(arriving);
  window->expect(std::make_shared<PartsArrival>(parts));
  const Tensor whole = raw::over_storage(window, memory.sizes(), memory.scalar_type());
  const Tensor out = raw::to(raw::linear(x, weight_of(whole), bias), kCPU);
  EXPECT_EQ(std::memcmp(out.data_ptr(), expected.data_ptr(), out.nbytes()), 0)
      << "rows " << x.size(0) << ", weight " << memory.dtype() << " " << memory.sizes()
      << " from row " << row << " and column " << col << ", " << ends.size() << " parts";
  EXPECT_TRUE(window->is_arriving());
  return awaited;
}

std::vector<int64_t> sixteenths(int64_t columns) {
  std::vector<int64_t> ends;
  for (int64_t part = 1; part <= 16; ++part) ends.push_back(part * columns / 16);
  return ends;
}

TEST_F(MatmulArrivalTest, ALargeOneGoesOnByQuartersOfItsTerms) {
  const Tensor weight = random_numbers({2048, 128}, kFloat), bias = random_numbers({2048}, kFloat);
  const Tensor x = random_numbers({256, 128}, kFloat);
  const std::vector<size_t> quarters = {3, 7, 11, 15};
  EXPECT_EQ(expect_same_bits(x, weight, 0, 0, bias, sixteenths(128)), quarters);
  // Without the columns of the first half the second half is the weight.
  const std::vector<size_t> later = {11, 15};
  EXPECT_EQ(expect_same_bits(raw::narrow(x, 1, 64, 64), weight, 0, 64, bias, sixteenths(128)),
            later);
}

TEST_F(MatmulArrivalTest, OneOfManyRowsNeedsFewerLaunches) {
  const Tensor weight = random_numbers({512, 128}, kFloat), bias = random_numbers({512}, kFloat);
  const std::vector<size_t> two = {3, 15};
  EXPECT_EQ(
      expect_same_bits(random_numbers({1024, 128}, kFloat), weight, 0, 0, bias, sixteenths(128)),
      two);
}

// They make a block of outputs anew, from its first term on.
TEST_F(MatmulArrivalTest, InfinitiesAndNansHaveTheBitsOfTheWhole) {
  const Tensor weight = random_numbers({2048, 128}, kFloat), x = random_numbers({256, 128}, kFloat);
  raw::fill_(raw::narrow(raw::narrow(weight, 0, 100, 1), 1, 20, 1),
             std::numeric_limits<double>::infinity());
  raw::fill_(raw::narrow(raw::narrow(weight, 0, 900, 1), 1, 100, 1), std::nan(""));
  expect_same_bits(x, weight, 0, 0, Tensor(), sixteenths(128));
}

TEST_F(MatmulArrivalTest, WhatIsSplitWaitsForAll) {
  // Few outputs of many terms.
  const Tensor x = random_numbers({8, 4096}, kFloat), weight = random_numbers({256, 4096}, kFloat);
  const std::vector<size_t> last = {15};
  EXPECT_EQ(expect_same_bits(x, weight, 0, 0, Tensor(), sixteenths(4096)), last);
}

TEST_F(MatmulArrivalTest, RowsThatAreNoRowsOfTheMemoryWaitForAll) {
  const Tensor memory = random_numbers({1024, 512}, kFloat), x = random_numbers({128, 256}, kFloat);
  const auto window = std::make_shared<Window>(memory);
  std::vector<size_t> awaited;
  Arrival::Parts parts{512 * 4, {}};
  for (const int64_t end : {256, 512})
    parts.all.push_back(
        {static_cast<size_t>(end * 4),
         std::make_shared<CopyWhenAwaited>(memory, memory, parts.all.size(), awaited)});
  window->expect(std::make_shared<PartsArrival>(parts));
  raw::linear(x, raw::over_storage(window, {2048, 256}, kFloat), Tensor());
  EXPECT_EQ(awaited, std::vector<size_t>{1});
}

TEST_F(MatmulArrivalTest, RandomShapesAndPartsHaveTheBitsOfTheWhole) {
  for (int round = 0; round < 40; ++round) {
    const ScalarType dtype = round % 4 == 0 ? kDouble : round % 4 == 1 ? kLong : kFloat;
    const int64_t n = pick(1, 300), k = pick(1, 400), m = pick(0, 3) == 0 ? 1 : pick(2, 150);
    const int64_t row = pick(0, 1) ? 0 : pick(0, n - 1), col = pick(0, 1) ? 0 : pick(0, k - 1);
    const Tensor memory = random_numbers({n, k}, dtype), x = random_numbers({m, k - col}, dtype);
    const Tensor bias = pick(0, 1) ? random_numbers({n - row}, dtype) : Tensor();
    std::vector<int64_t> ends;
    const int64_t most = pick(k / 20 + 1, k);
    for (int64_t end = pick(1, most); end < k; end += pick(1, most)) ends.push_back(end);
    ends.push_back(k);
    expect_same_bits(x, memory, row, col, bias, ends);
  }
}

}  // namespace
}  // namespace gradus
