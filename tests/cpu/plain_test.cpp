// The fast loops against the plain ones, over random shapes and layouts.
#include "gradus/cpu/walk/plain.h"

#include <gtest/gtest.h>

#include "gradus/tensor/math/elementwise.h"
#include "tests/cpu/near.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

template <class T>
cpu::plain::View<T> view(const Tensor& x) {
  return {static_cast<T*>(x.data_ptr()), x.sizes(), x.strides()};
}

// Shapes on both sides of what a loop takes in place, in blocks, by bands or on several threads.
Dims some_sizes() {
  if (pick(0, 3)) return random_sizes(4, 9);
  return {pick(1, 3), pick(1, 90), pick(1, 700)};
}

void expect_same(const Tensor& got, const Tensor& expected, double tolerance = 1e-6) {
  for (int64_t i = 0; i < got.numel(); ++i) {
    const double value = get(expected, i);
    ASSERT_NEAR(get(got, i), value, tolerance * (1 + std::fabs(value)))
        << got.sizes() << " at " << i;
  }
}

template <UnaryOp op>
void check_map() {
  const Dims sizes = some_sizes();
  const Tensor x = random_tensor(sizes, kFloat, 0.1, 3);
  const Tensor out = random_layout(sizes, kFloat), expected = random_layout(sizes, kFloat);
  cpu_backend().map(op, x, out);
  cpu::plain::map([](float a) { return scalar::Unary<op>::f(a); }, view<float>(expected),
                  view<const float>(x));
  expect_same(out, expected);
}
TEST(CpuPlain, Map) {
  for (int round = 0; round < 40; ++round) {
    check_map<UnaryOp::neg>();
    check_map<UnaryOp::exp>();
    check_map<UnaryOp::tanh>();
  }
}

template <BinaryOp op, class T>
void check_zip() {
  const Dims sizes = some_sizes();
  const Tensor x = random_tensor(sizes, dtype_of<T>, 1, 9),
               y = random_tensor(sizes, dtype_of<T>, 1, 9);
  const Tensor out = random_layout(sizes, dtype_of<T>),
               expected = random_layout(sizes, dtype_of<T>);
  cpu_backend().zip(op, x, y, out);
  cpu::plain::map([](T a, T b) { return scalar::Binary<op>::f(a, b); }, view<T>(expected),
                  view<const T>(x), view<const T>(y));
  expect_same(out, expected);
}
TEST(CpuPlain, Zip) {
  for (int round = 0; round < 40; ++round) {
    check_zip<BinaryOp::sub, float>();
    check_zip<BinaryOp::pow, double>();
    check_zip<BinaryOp::remainder, int64_t>();
  }
}

template <ReduceOp op, class T>
void check_reduce() {
  const Dims sizes = some_sizes();
  const Tensor x = random_tensor(sizes, dtype_of<T>);
  Dims kept = sizes;
  for (int64_t& size : kept)
    if (pick(0, 1)) size = 1;
  const Tensor out = random_layout(kept, dtype_of<T>), expected = random_layout(kept, dtype_of<T>);
  cpu_backend().reduce(op, x, out);
  using Row = scalar::Reduction<op>;
  cpu::plain::reduce([](T a, T b) { return Row::combine(Row::enter(b), a); },
                     Row::template start<T>(), view<T>(expected), view<const T>(x));
  expect_same(out, expected, 1e-3);  // sums in another order
}
TEST(CpuPlain, Reduce) {
  for (int round = 0; round < 40; ++round) {
    check_reduce<ReduceOp::sum, double>();
    check_reduce<ReduceOp::amax, float>();
    check_reduce<ReduceOp::sum, int64_t>();
  }
}

}  // namespace
}  // namespace gradus::test
