// The columns of backend.def, and the backend that checks them before each function in all tests.
#include <gtest/gtest.h>

#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/support.h"

namespace gradus::test {
namespace {

// Calls that break the contract of the CPU. The checking backend refuses them; the CPU's own would
// read other elements, or fail within a loop.
TEST(Contract, IsCheckedBeforeEachFunction) {
  const Tensor x = randn({4, 6}), wide = x.to(kDouble), half = x.to(kHalf);
  const Tensor numbers = zeros({4}, kLong);
  const auto refused = [](const auto& call, const char* part) { expect_error<Error>(call, part); };
  Backend& cpu = backend(kCPU);
  refused([&] { cpu.softmax(false, half, 1, half.clone()); },
          "softmax breaks the contract of backend.def: argument 1 has shape [4, 6], strides [6, 1] "
          "and dtype float16 on cpu; the device takes other dtypes");
  refused([&] { cpu.histc(true, 0, 1, x.t(), zeros({3}, kLong)); }, "argument 3");
  refused([&] { cpu.histc(true, 0, 1, x, zeros({3})); }, "argument 4");
  refused(
      [&] {
        cpu.cross_entropy({}, x.t(), zeros({6}, kLong), {}, zeros({4, 6}), {});
      },
      "the device takes other strides");
  refused([&] { cpu.cross_entropy({}, x, numbers.to(kInt), {}, zeros({4, 4}), {}); }, "argument 2");
  refused([&] { cpu.zip(BinaryOp::add, x, wide, x.clone()); }, "expected operands of one dtype");
  refused([&] { cpu.where(x, x, x, x.clone()); }, "argument 0");
  refused([&] { cpu.map(UnaryOp::exp, x, zeros({4, 1}).expand({4, 6})); }, "overlaps itself");
  // Rows that are apart are taken; a tensor of one element may have the other's wider dtype.
  EXPECT_NO_THROW(
      cpu.cross_entropy({{"", 1, 3}, -100, 0}, x.narrow(1, 0, 3), numbers, {}, zeros({4, 4}), {}));
  const Tensor rounded = half.clone();
  EXPECT_NO_THROW(cpu.zip(BinaryOp::mul, half, randn({1}), rounded));
}

// What raw gives to a device is what its columns say.
TEST(Contract, IsMetByTakenTensors) {
  const Tensor columns = randn({4, 6}).to(kHalf).t();
  const Tensor taken = raw::taken(contracts::cross_entropy::x, columns);
  EXPECT_EQ(taken.dtype(), kFloat);
  EXPECT_TRUE(raw::takes(contracts::cross_entropy::x, taken));
  EXPECT_TRUE(taken.equal(columns.to(kFloat)));
  EXPECT_TRUE(raw::taken(contracts::matmul::a, columns.to(kFloat)).stride(0) == 1);
  EXPECT_EQ(raw::taken(contracts::matmul::a, zeros({2, 2}, kBool)).dtype(), kLong);
  static_assert(contracts::takes_dtype(contracts::matmul::a, kCUDA, kBFloat16));
  static_assert(!contracts::takes_dtype(contracts::matmul::a, kCPU, kBFloat16));
  static_assert(contracts::strides_of(contracts::attention::out, kCUDA) ==
                contracts::Strides::rows);
  static_assert(contracts::strides_of(contracts::max_pool::x, kCUDA) ==
                contracts::Strides::contiguous);
  static_assert(contracts::of(Function::attention_grad).results == 3);
}

}  // namespace
}  // namespace gradus::test
