// Products whose right side is still arriving.
#include <cmath>
#include <cstring>

#include "gradus/tensor/raw.h"
#include "tests/cuda/gpu_test.h"
#include "tests/random.h"

namespace gradus {
namespace {

using test::pick;
using MatmulArrivalTest = GpuTest;

// Memory of a tensor that has its own ways to wait for it.
class Window final : public Storage {
 public:
  explicit Window(const Tensor& memory)
      : Storage(memory.data_ptr(), memory.nbytes(), memory.device()), memory_(memory) {}

 private:
  Tensor memory_;
};

// The first bytes of some memory: copied there when they are awaited, and no sooner.
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

Tensor as_bytes(const Tensor& x) { return raw::view(*raw::try_view(x, {x.numel()}), kByte); }

// linear(x, weight, bias) where the weight's memory arrives up to each of these bytes, and which of
// these parts it has waited for, has the bits that it has without waiting.
std::vector<size_t> expect_same_bits(const Tensor& x, const Tensor& memory, int64_t row,
                                     const Tensor& bias, const std::vector<int64_t>& ends) {
  const auto weight_of = [&](const Tensor& all) {
    return raw::narrow(all, 0, row, all.size(0) - row);
  };
  const Tensor expected = raw::to(raw::linear(x, weight_of(memory), bias), kCPU);
  const Tensor arriving = raw::empty(memory.sizes(), memory.scalar_type(), memory.device());
  raw::fill_(arriving, memory.dtype() == kLong ? Scalar(-987654321) : Scalar(std::nan("")));
  std::vector<size_t> awaited;
  std::vector<Arrival::Part> parts;
  for (const int64_t end : ends)
    parts.push_back({static_cast<size_t>(end),
                     std::make_shared<CopyWhenAwaited>(raw::narrow(as_bytes(arriving), 0, 0, end),
                                                       raw::narrow(as_bytes(memory), 0, 0, end),
                                                       parts.size(), awaited)});
  const auto window = std::make_shared<Window>(arriving);
  window->expect(std::make_shared<PartsArrival>(parts));
  const Tensor whole = raw::over_storage(window, memory.sizes(), memory.scalar_type());
  const Tensor out = raw::to(raw::linear(x, weight_of(whole), bias), kCPU);
  EXPECT_EQ(std::memcmp(out.data_ptr(), expected.data_ptr(), out.nbytes()), 0)
      << "rows " << x.size(0) << ", weight " << memory.dtype() << " " << memory.sizes()
      << " from row " << row << ", " << ends.size() << " parts";
  EXPECT_TRUE(window->is_arriving());
  return awaited;
}

TEST_F(MatmulArrivalTest, ALargeOneIsMultipliedByQuarters) {
  const Tensor weight = random_numbers({2048, 64}, kFloat), bias = random_numbers({2048}, kFloat);
  const Tensor x = random_numbers({128, 64}, kFloat);
  std::vector<int64_t> ends;
  for (int64_t part = 1; part <= 16; ++part) ends.push_back(part * 128 * 64 * 4);
  const std::vector<size_t> quarters = {3, 7, 11, 15};
  EXPECT_EQ(expect_same_bits(x, weight, 0, bias, ends), quarters);
  // Without the rows of the first half the second half is the weight.
  const std::vector<size_t> later = {9, 11, 13, 15};
  EXPECT_EQ(expect_same_bits(x, weight, 1024, raw::narrow(bias, 0, 0, 1024), ends), later);
}

TEST_F(MatmulArrivalTest, WhatIsNotMultipliedByPartsWaitsForAll) {
  // Few outputs of many terms, which are split.
  const Tensor x = random_numbers({8, 4096}, kFloat), weight = random_numbers({256, 4096}, kFloat);
  std::vector<int64_t> ends;
  for (int64_t part = 1; part <= 4; ++part) ends.push_back(part * 64 * 4096 * 4);
  const std::vector<size_t> last = {3};
  EXPECT_EQ(expect_same_bits(x, weight, 0, Tensor(), ends), last);
}

TEST_F(MatmulArrivalTest, RandomShapesAndPartsHaveTheBitsOfTheWhole) {
  for (int round = 0; round < 40; ++round) {
    const ScalarType dtype = round % 4 == 0 ? kDouble : round % 4 == 1 ? kLong : kFloat;
    const int64_t n = pick(1, 700), k = pick(1, 80), m = pick(0, 3) == 0 ? 1 : pick(2, 150);
    const Tensor memory = random_numbers({n, k}, dtype), x = random_numbers({m, k}, dtype);
    const int64_t row = pick(0, 1) ? 0 : pick(0, n - 1);
    const Tensor bias = pick(0, 1) ? random_numbers({n - row}, dtype) : Tensor();
    const auto bytes = static_cast<int64_t>(memory.nbytes());
    std::vector<int64_t> ends;
    const int64_t most = pick(bytes / 20 + 1, bytes);
    for (int64_t end = pick(1, most); end < bytes; end += pick(1, most)) ends.push_back(end);
    ends.push_back(bytes);
    expect_same_bits(x, memory, row, bias, ends);
  }
}

}  // namespace
}  // namespace gradus
