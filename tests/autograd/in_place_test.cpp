// Recorded changes in place, over every row of elementwise.def that has one: values, gradients,
// memory and layout are those of the form that makes a new tensor.
#include <gtest/gtest.h>

#include <functional>

#include "gradus/gradus.h"
#include "tests/support.h"

namespace gradus {
namespace {

// Numbers of a tensor and what its sum's gradient is by x and by y.
struct Changed {
  Tensor value, by_x, by_y;
};

// Compares f(x, y), which may change x or make a new tensor.
template <class F>
Changed result_of(const F& f, bool channels_last) {
  Tensor x = arange(1, 25, kFloat).reshape({2, 3, 2, 2}) / 30;
  Tensor y = (arange(24, kFloat).reshape({2, 3, 2, 2}) + 5).flip({0}) / 40;
  x.set_requires_grad(true), y.set_requires_grad(true);
  Tensor changed = channels_last ? x.clone(MemoryFormat::ChannelsLast) : x * 1;
  const Tensor result = f(changed, y);
  (result * arange(24, kFloat).reshape({2, 3, 2, 2})).sum().backward();
  return {result.detach(), x.grad(), y.grad()};
}

struct Change {
  const char* name;
  std::function<Tensor(Tensor&, const Tensor&)> changes, makes;
};

std::vector<Change> changes() {
  return {
#define UNARY(name, ...)                                        \
  {#name, [](Tensor& x, const Tensor&) { return x.name##_(); }, \
   [](Tensor& x, const Tensor&) { return x.name(); }},
#define PREDICATE(...)
#define BINARY(name, ...)                                                              \
  {#name, [](Tensor& x, const Tensor& y) { return x.name##_(y.detach()); },            \
   [](Tensor& x, const Tensor& y) { return x.name(y.detach()); }},                     \
      {#name " by both", [](Tensor& x, const Tensor& y) { return x.name##_(y * 2); },  \
       [](Tensor& x, const Tensor& y) { return x.name(y * 2); }},                      \
      {#name " by a number", [](Tensor& x, const Tensor&) { return x.name##_(0.75); }, \
       [](Tensor& x, const Tensor&) { return x.name(0.75); }},                         \
      {#name " by itself", [](Tensor& x, const Tensor&) { return x.name##_(x); },      \
       [](Tensor& x, const Tensor&) { return x.name(x); }},
#define INTEGER(...)
#define COMPARISON(...)
#include "gradus/tensor/table/elementwise.def"
  };
}

template <class F>
bool throws(const F& f) {
  try {
    f();
    return false;
  } catch (const Error&) {
    return true;
  }
}

void expect_same(const char* what, const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.defined(), b.defined()) << what;
  if (a.defined() && b.defined()) {
    EXPECT_TRUE(allclose(a, b, 0, 0, /*equal_nan=*/true)) << what << ": " << a << ", " << b;
  }
}

TEST(InPlaceRows, GiveWhatTheOtherFormGivesInTheSameMemory) {
  for (const Change& each : changes())
    for (const bool channels_last : {false, true}) {
      SCOPED_TRACE(each.name);
      Changed changed;
      try {
        changed = result_of(
            [&](Tensor& x, const Tensor& y) {
              const void* const memory = x.data_ptr();
              const Dims strides = x.impl().strides;
              const Tensor out = each.changes(x, y);
              EXPECT_EQ(out.data_ptr(), memory);
              EXPECT_EQ(IntArrayRef(out.impl().strides), IntArrayRef(strides));
              return out;
            },
            channels_last);
      } catch (const Error&) {  // an operand that changed with x, or a derivative nobody has
        EXPECT_TRUE(std::string_view(each.name).ends_with("by itself") ||
                    throws([&] { result_of(each.makes, channels_last); }));
        continue;
      }
      const Changed made = result_of(each.makes, channels_last);
      expect_same("value", changed.value, made.value);
      expect_same("by x", changed.by_x, made.by_x);
      expect_same("by y", changed.by_y, made.by_y);
    }
}

TEST(InPlaceRows, KeepTheSecondDerivative) {
  const Tensor x = tensor({0.3, -0.2}, TensorOptions(kDouble).requires_grad(true));
  const Tensor y = (x * 1).tanh_() * 2;
  const Tensor first = autograd::grad({y.sum()}, {x}, {}, true, true)[0];
  const Tensor second = autograd::grad({first.sum()}, {x})[0];
  const Tensor t = x.detach().tanh();
  EXPECT_TRUE(allclose(first.detach(), 2 * (1 - t * t), 1e-12));
  EXPECT_TRUE(allclose(second, -4 * t * (1 - t * t), 1e-12));
}

TEST(InPlaceRows, RefuseToReadAResultThatChangedAfterwards) {
  const Tensor x = ones({2}, requires_grad());
  Tensor y = (x * 1).sigmoid_();
  y.mul_(2);
  expect_error<Error>([&] { y.sum().backward(); }, "modified by an inplace operation");
}

}  // namespace
}  // namespace gradus
