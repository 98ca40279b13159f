// Structs that calls take and give, compiled with -fno-elide-constructors as the course's judge
// does: each read of the one that lies in memory is checked and counted.
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimPassedTest = SimFindingsTest;

struct One {
  float value;
};
struct Four {
  float values[4];
};
struct Inner {
  int tag;
  Four four;
};
struct Derived : One {
  int tag;
};
union Either {
  float value;
  int bits;
};
struct Virtual {
  __device__ virtual float take(One one) const { return one.value; }
};

#define CALLED __attribute__((noinline)) __device__
CALLED float take(One one) { return one.value; }
CALLED float take(Four four) { return four.values[3]; }
CALLED float take(const Inner inner, int) { return inner.four.values[0]; }
CALLED float take(Either either) { return either.value; }
CALLED float take(float4 four) { return four.w; }
CALLED One give(const One* x) { return *x; }
CALLED Four give(const Four* x) { return *x; }
CALLED float of_two(One a, One b) { return a.value + b.value; }

template <class F>
struct Holds {
  F f;
  CALLED float operator()() const { return f(); }
};

// How a kernel reads x, and what each thread reads.
struct Form {
  const char* name;
  void (*run)(const float*, float*);
  int loads, bytes;
};
template <class T>
__device__ const T* in(const float* x) {
  return reinterpret_cast<const T*>(x) + threadIdx.x;
}
template <class F>
__global__ void form_kernel(const float* x, float* out) {
  out[threadIdx.x] = F()(x);
}
template <class F>
Form form(const char* name, int loads, int bytes, F) {
  return {name, form_kernel<F>, loads, bytes};
}

std::vector<Form> forms() {
  return {
      form("by value", 1, 4, [](const float* x) { return take(*in<One>(x)); }),
      form("by value, on the stack", 1, 16, [](const float* x) { return take(*in<Four>(x)); }),
      form("an array within a struct", 2, 20,
           [](const float* x) { return take(*in<Inner>(x), 1); }),
      form("a member", 1, 16, [](const float* x) { return take(in<Inner>(x)->four); }),
      form("a base", 1, 4,
           [](const float* x) { return take(static_cast<const One&>(*in<Derived>(x))); }),
      form("a union", 1, 4, [](const float* x) { return take(*in<Either>(x)); }),
      form("float4", 1, 16, [](const float* x) { return take(*in<float4>(x)); }),
      form("two of them", 2, 8,
           [](const float* x) { return of_two(in<One>(x)[0], in<One>(x)[40]); }),
      form("one of two", 1, 4,
           [](const float* x) { return take(threadIdx.x % 2 ? in<One>(x)[0] : in<One>(x)[40]); }),
      form("returned", 1, 4, [](const float* x) { return give(in<One>(x)).value; }),
      form("returned, on the stack", 1, 16,
           [](const float* x) { return give(in<Four>(x)).values[1]; }),
      form("a copy first", 1, 16,
           [](const float* x) {
             const Four copy = *in<Four>(x);
             return take(copy);
           }),
      form("in an initializer", 1, 16,
           [](const float* x) {
             const Inner inner{1, *in<Four>(x)};
             return take(inner, 2);
           }),
      form("a lambda takes it", 1, 4,
           [](const float* x) {
             const auto f = [](One one) __attribute__((noinline)) { return one.value; };
             return f(*in<One>(x));
           }),
      form("a lambda captures it", 1, 16,
           [](const float* x) {
             const auto f = [four = *in<Four>(x)]() __attribute__((noinline)) {
               return four.values[2];
             };
             return f();
           }),
      form("a holder of a function", 1, 16,
           [](const float* x) {
             const Four four = *in<Four>(x);
             const auto f = [four] { return four.values[2]; };
             return Holds<decltype(f)>{f}();
           }),
      form("by a pointer to a function", 1, 4,
           [](const float* x) {
             float (*volatile f)(One) = take;
             return f(*in<One>(x));
           }),
      form("by a virtual function, whose table is read", 2, 12,
           [](const float* x) {
             const Virtual made;
             const Virtual* volatile any = &made;
             return any->take(*in<One>(x));
           }),
      form("memcpy", 1, 16,
           [](const float* x) {
             Four four;
             memcpy(&four, in<Four>(x), sizeof four);
             return take(four);
           }),
      form("__builtin_memcpy", 1, 16,
           [](const float* x) {
             Four four;
             __builtin_memcpy(&four, in<Four>(x), sizeof four);
             return take(four);
           }),
  };
}

TEST_F(SimPassedTest, EachReadIsCounted) {
  const DeviceArray<float> x(std::vector<float>(1024, 1)), out(32);
  for (const Form& each : forms()) {
    const auto counts = counts_of([&] { launch(each.run, {1, 32}, x, out); }).counts;
    EXPECT_EQ(counts.global_loads, 32 * each.loads) << each.name;
    EXPECT_EQ(counts.global_load_bytes, 32 * each.bytes) << each.name;
    EXPECT_EQ(counts.global_stores, 32) << each.name;
  }
}

// All but the first thread's elements lie behind the array.
TEST_F(SimPassedTest, EachReadIsChecked) {
  const DeviceArray<float> x(1, 1.f), out(32);
  for (const Form& each : forms()) {
    launch(each.run, {1, 32}, x, out);
    const auto findings = cuda::sim::take_findings();
    ASSERT_FALSE(findings.empty()) << each.name;
    EXPECT_EQ(findings[0].kind, cuda::sim::Kind::out_of_bounds) << each.name;
  }
}

__global__ void give_kernel(One* out, const One* x) { out[threadIdx.x] = give(x + threadIdx.x); }
TEST_F(SimPassedTest, WhatACallGivesIsCountedWhereItIsStored) {
  const DeviceArray<One> x(std::vector<One>(32)), out(32);
  const auto counts = counts_of([&] { launch(give_kernel, {1, 32}, out, x); }).counts;
  EXPECT_EQ(counts.global_stores, 32);
  EXPECT_EQ(counts.global_loads, 32);
}

// Arguments are structs, which are copied before the kernel begins.
struct Layout {
  long sizes[4], strides[4];
  int rank;
  Inner inner;
};
__global__ void argument_kernel(Layout layout, float* out, One one) {
  if (threadIdx.x < 8) out[threadIdx.x] = static_cast<float>(layout.strides[3]) + one.value;
}
TEST_F(SimPassedTest, ArgumentsAreNoMemoryOfADevice) {
  const DeviceArray<float> out(32);
  const auto seen = counts_of([&] {
    launch(argument_kernel, {1, 32}, Layout{{}, {1, 2, 3, 4}, 4, {}}, out, One{2});
  });
  EXPECT_EQ(text_of(cuda::sim::take_findings()), "");
  EXPECT_EQ(seen.counts.global_loads, 0);
  EXPECT_EQ(seen.idle_threads, 24);
  EXPECT_EQ(out.values()[7], 6);
}

}  // namespace
}  // namespace gradus
