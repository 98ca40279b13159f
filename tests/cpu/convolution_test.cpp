// Each part of a convolution on the CPU against a slow loop, for random shapes.
#include "gradus/cpu/convolution/convolution.h"
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

// growth: of the rounding, where sums cancel in the end.
void check_parts(const Convolution& s, ScalarType dtype, double growth = 1) {
  SCOPED_TRACE(test::describe(s));
  const double unit = dtype == kFloat ? 0x1p-23 : 0x1p-52;
  for (const ConvolutionPass part : kParts) {
    const Tensor a = random_numbers(sizes_of(first_operand(part), s), dtype);
    const Tensor b = random_numbers(sizes_of(second_operand(part), s), dtype);
    Tensor expected = slow_convolution(part, s, raw::to(a, kDouble), raw::to(b, kDouble)), bias;
    if (part == ConvolutionPass::fprop) {
      bias = random_numbers({s.filters}, dtype);
      Dims along_filters = Dims::filled(expected.sizes().size(), 1);
      along_filters[1] = s.filters;
      expected =
          raw::zip(BinaryOp::add, expected, *raw::try_view(raw::to(bias, kDouble), along_filters));
    }
    const Tensor got = raw::convolution("conv", part, s, a, b, bias);
    ASSERT_EQ(got.sizes(), expected.sizes());
    EXPECT_LE(largest_difference(got, expected), growth * unit * (4 + terms_of(part, s)))
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

// A group for each channel, whose lines are written as they are, in vectors and a rest.
TEST(CpuConvolution, OneRowAGroupAndLinesOfEveryLength) {
  for (int64_t length = 1; length <= 70; ++length) {
    Convolution s;
    s.batch = 2, s.groups = s.channels = s.filters = 3;
    s.dim[1] = {3, 3, 3, 1, 1, 1};
    s.dim[2] = {length, length, 3, 1, 1, 1};
    check_parts(s, length % 2 ? kFloat : kDouble);
    check_parts(s, length % 2 ? kDouble : kFloat);
  }
}

// Of so many channels that their windows are copied into a matrix.
Convolution random_matrix(int64_t most_size) {
  Convolution s = random_convolution(1, most_size);
  s.groups = pick(1, 2), s.batch = pick(1, 9);
  s.channels = s.groups * pick(32, 40), s.filters = s.groups * pick(32, 50);
  return s;
}

TEST(CpuConvolution, ManyChannels) {
  for (int i = 0; i < 12; ++i) {
    const Convolution s = random_matrix(i % 2 ? 9 : 5);
    ASSERT_TRUE(cpu::unfolded_way<float>(s)) << test::describe(s);
    check_parts(s, i % 4 ? kFloat : kDouble);
  }
}

// Windows of which none overlap, with elements that no window sees, and of one element each, which
// are the image. Images of few places share a product.
TEST(CpuConvolution, WindowsThatLieApart) {
  for (int i = 0; i < 24; ++i) {
    Convolution s;
    s.groups = pick(1, 2), s.batch = pick(1, 6);
    s.channels = s.groups * pick(8, 12), s.filters = s.groups * pick(8, 70);
    const bool is_image = i % 3 == 0;
    s.spatial = i % 4 == 1 ? 3 : 2;
    for (int d = kSpatial - s.spatial; d < kSpatial; ++d) {
      const int64_t kernel = is_image ? 1 : pick(1, 4), dilation = pick(1, 2);
      const int64_t stride = is_image ? 1 : (kernel - 1) * dilation + pick(1, 2);
      const int64_t out = i % 2 ? pick(1, 5) : pick(16, 20);
      const int64_t in = (out - 1) * stride + (kernel - 1) * dilation + pick(1, stride);
      s.dim[d] = {in, out, kernel, stride, 0, dilation};
    }
    ASSERT_TRUE(cpu::unfolded_way<float>(s)) << test::describe(s);
    check_parts(s, i % 5 ? kFloat : kDouble);
  }
}

// Of 3 x 3 windows and many channels, for lines of odd lengths and any padding of winograd_way.
Convolution random_tiles(int64_t most_size) {
  Convolution s;
  s.groups = pick(1, 2);
  s.channels = s.groups * pick(32, 50), s.filters = s.groups * pick(32, 70);
  for (const int d : {1, 2}) {
    const int64_t in = pick(3, most_size), padding = pick(0, 2);
    s.dim[d] = {in, in + 2 * padding - 2, 3, 1, padding, 1};
  }
  s.batch = cpu::divide_up(256, s.outputs()) + pick(0, 3);
  return s;
}

// A tile's sums are of numbers up to four times as large as the terms, and cancel in what comes of
// them: a gradient of 257 terms was off by 1.05 of what sums of the terms themselves may be.
TEST(CpuConvolution, TilesOfFewerMultiplications) {
  constexpr double kGrowth = 2;
  for (const int64_t size : {3, 5, 9, 16, 33}) {
    const Convolution s = random_tiles(size);
    ASSERT_TRUE(cpu::winograd_way(s)) << test::describe(s);
    check_parts(s, kFloat, kGrowth);
  }
}

// So many places that the gradient of the weight is summed in chunks, of several products each.
TEST(CpuConvolution, SumsOverManyPlaces) {
  Convolution s;
  s.channels = 32, s.filters = 33, s.batch = 21;
  s.dim[1] = {15, 8, 3, 2, 1, 1}, s.dim[2] = {17, 8, 2, 2, 0, 1};
  ASSERT_FALSE(cpu::winograd_way(s));
  check_parts(s, kFloat);
  s.batch = 9;
  s.dim[1] = {20, 20, 3, 1, 1, 1}, s.dim[2] = {21, 21, 3, 1, 1, 1};
  ASSERT_TRUE(cpu::winograd_way(s));
  check_parts(s, kFloat);
}

// A number that is not finite reaches the windows that see it, and no others of their tiles.
TEST(CpuConvolution, TilesKeepNaNInItsWindows) {
  Convolution s;
  s.batch = 4, s.channels = s.filters = 32;
  s.dim[1] = s.dim[2] = {9, 9, 3, 1, 1, 1};
  ASSERT_TRUE(cpu::winograd_way(s));
  const Tensor x = random_numbers(sizes_of(ConvolutionPass::dgrad, s), kFloat);
  x.data_ptr<float>()[4 * 9 + 3] = std::nanf("");
  const Tensor weight = random_numbers(sizes_of(ConvolutionPass::wgrad, s), kFloat);
  const Tensor y = raw::convolution("conv", ConvolutionPass::fprop, s, x, weight);
  for (int64_t i = 0; i < y.numel(); ++i) {
    const bool sees = i < 32 * 81 && std::abs(i % 81 / 9 - 4) <= 1 && std::abs(i % 9 - 3) <= 1;
    ASSERT_EQ(std::isnan(y.data_ptr<float>()[i]), sees) << i;
  }
}

TEST(CpuConvolution, HasTheSameBitsOnAnyNumberOfThreads) {
  const int threads = get_num_threads();
  for (int i = 0; i < 6; ++i) {
    Convolution s = random_convolution(16, 20);
    if (s.spatial == 3) s = random_convolution(8, 8);
    s.batch = pick(1, 40);
    if (i % 3) s = i % 3 == 1 ? random_tiles(30) : random_matrix(12);
    SCOPED_TRACE(test::describe(s));
    for (const ConvolutionPass part : kParts) {
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
