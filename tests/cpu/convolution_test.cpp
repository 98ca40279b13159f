// Each part of a convolution on the CPU against a slow loop, for random shapes.
#include "gradus/cpu/instruction_set.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/base/threads.h"
#include "tests/support.h"
#include "tests/windows.h"

namespace gradus {
namespace {

using namespace test;

Tensor random_numbers(IntArrayRef sizes, ScalarType dtype) {
  const Tensor out = raw::empty(sizes, kDouble, kCPU);
  for (int64_t i = 0; i < out.numel(); ++i) out.data_ptr<double>()[i] = real(-1, 1);
  return raw::to(out, dtype);
}

double largest_difference(const Tensor& got, const Tensor& expected) {
  const Tensor x = raw::to(got, kDouble);
  double out = 0;
  for (int64_t i = 0; i < x.numel(); ++i)
    out = std::max(out, std::abs(x.data_ptr<double>()[i] - expected.data_ptr<double>()[i]));
  return out;
}

void check_parts(const Convolution& s, ScalarType dtype) {
  SCOPED_TRACE(test::describe(s));
  const double unit = dtype == kFloat ? 0x1p-23 : 0x1p-52;
  for (const ConvolutionPart part : kParts) {
    const Tensor a = random_numbers(sizes_of(first_operand(part), s), dtype);
    const Tensor b = random_numbers(sizes_of(second_operand(part), s), dtype);
    const Tensor expected = slow_convolution(part, s, raw::to(a, kDouble), raw::to(b, kDouble));
    const Tensor got = raw::convolution("conv", part, s, a, b);
    ASSERT_EQ(got.sizes(), expected.sizes());
    EXPECT_LE(largest_difference(got, expected), unit * (4 + terms_of(part, s)))
        << "part " << static_cast<int>(part);
  }
}

TEST(CpuConvolution, RandomShapes) {
  for (int i = 0; i < 60; ++i) check_parts(random_convolution(5, 13), i % 2 ? kFloat : kDouble);
}

TEST(CpuConvolution, ManyFiltersAndLongLines) {
  for (int i = 0; i < 8; ++i) {
    Convolution s = random_convolution(40, 9);
    s.batch = 2;
    check_parts(s, kFloat);
    s = random_convolution(3, 70);
    if (s.spatial < 3) check_parts(s, kFloat);
  }
}

TEST(CpuConvolution, HasTheSameBitsOnAnyNumberOfThreads) {
  const int threads = get_num_threads();
  for (int i = 0; i < 6; ++i) {
    Convolution s = random_convolution(16, 20);
    if (s.spatial == 3) s = random_convolution(8, 8);
    s.batch = pick(1, 40);
    SCOPED_TRACE(test::describe(s));
    for (const ConvolutionPart part : kParts) {
      const Tensor a = random_numbers(sizes_of(first_operand(part), s), kFloat);
      const Tensor b = random_numbers(sizes_of(second_operand(part), s), kFloat);
      set_num_threads(1);
      const Tensor one = raw::convolution("conv", part, s, a, b);
      set_num_threads(5);
      const Tensor more = raw::convolution("conv", part, s, a, b);
      EXPECT_EQ(largest_difference(one, raw::to(more, kDouble)), 0) << static_cast<int>(part);
    }
  }
  set_num_threads(threads);
}

}  // namespace
}  // namespace gradus
