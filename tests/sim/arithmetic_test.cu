// Arithmetic that is undefined in C++, and defined otherwise on a GPU.
#include <limits>

#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;
using SimArithmeticTest = SimFindingsTest;

std::string message_of(const std::vector<Finding>& found) {
  return found.size() == 1 && found[0].kind == Kind::arithmetic ? found[0].message : text_of(found);
}

template <class T>
__global__ void divide_kernel(const T* x, const T* y, T* out, bool rest) {
  const T a = x[threadIdx.x], b = y[threadIdx.x];
  out[threadIdx.x] = rest ? a % b : a / b;
}

TEST_F(SimArithmeticTest, ADivisionByZeroStopsTheThread) {
  for (const bool rest : {false, true}) {
    const DeviceArray<int> x(4, -100), y(std::vector<int>{7, 0, 0, 8}), out(4, 5);
    launch(divide_kernel<int>, {1, 4}, x, y, out, rest);
    const std::vector<Finding> found = take_findings();
    EXPECT_EQ(message_of(found), "-100 is divided by 0");
    EXPECT_EQ(found.at(0).times, 2);
    EXPECT_EQ(found.at(0).sides.at(0).thread.x, 1u);
    EXPECT_EQ(out.values(), rest ? std::vector({-2, 5, 5, -4}) : std::vector({-14, 5, 5, -12}));
  }
  const DeviceArray<unsigned long long> x(1, ~0ull), y(1, 0ull), out(1);
  launch(divide_kernel<unsigned long long>, {1, 1}, x, y, out, false);
  EXPECT_EQ(message_of(take_findings()), "18446744073709551615 is divided by 0");
}

__global__ void shift_kernel(const int* by, unsigned* left, long long* right) {
  left[threadIdx.x] = (1u << by[threadIdx.x]) - 1;
  right[threadIdx.x] = -8ll >> by[threadIdx.x];
}

TEST_F(SimArithmeticTest, AShiftIsByLessThanTheWordHasBits) {
  const DeviceArray<int> good(std::vector{0, 31}), wide(std::vector{32}), far(std::vector{-1});
  const DeviceArray<unsigned> left(2);
  const DeviceArray<long long> right(2);
  launch(shift_kernel, {1, 2}, good, left, right);
  EXPECT_EQ(text_of(take_findings()), "");
  launch(shift_kernel, {1, 1}, wide, left, right);
  EXPECT_EQ(message_of(take_findings()),
            "a value of 32 bits, 1, is shifted by 32; shift by 0 to 31");
  launch(shift_kernel, {1, 1}, far, left, right);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 2u) << text_of(found);
  EXPECT_EQ(found[1].message, "a value of 64 bits, -8, is shifted by -1; shift by 0 to 63");
}

template <class From, class To>
__global__ void convert_kernel(const From* x, To* out) {
  *out = static_cast<To>(*x);
}
template <class From, class To>
std::string conversion(From value) {
  const DeviceArray<From> x(1, value);
  const DeviceArray<To> out(1);
  launch(convert_kernel<From, To>, {1, 1}, x, out);
  return message_of(take_findings());
}

TEST_F(SimArithmeticTest, AFloatFitsIntoItsInteger) {
  const std::string fix = "; clamp it first, or use __float2int_rz or its like";
  EXPECT_EQ((conversion<float, int>(-2147483648.f)), "");
  EXPECT_EQ((conversion<float, unsigned>(-.5f)), "");
  EXPECT_EQ((conversion<float, int>(NAN)), "type 'int' has no value for nan" + fix);
  EXPECT_EQ((conversion<float, int>(1e20f)), "type 'int' has no value for 1e+20" + fix);
  EXPECT_EQ((conversion<float, unsigned>(-5.f)), "type 'unsigned int' has no value for -5" + fix);
  EXPECT_EQ((conversion<double, unsigned char>(256.)),
            "type 'unsigned char' has no value for 256" + fix);
}

// Integers wrap around on a GPU as well.
__global__ void wrap_kernel(int x, int* out) {
  for (int i = 0; i < 4; ++i) x += 2000000000;
  *out = x;
}

TEST_F(SimArithmeticTest, SumsMayWrapAround) {
  const DeviceArray<int> out(1);
  launch(wrap_kernel, {1, 1}, 1, out);
  EXPECT_EQ(out.values()[0], static_cast<int>(8000000001u - (1ull << 32)));
}

}  // namespace
}  // namespace gradus
