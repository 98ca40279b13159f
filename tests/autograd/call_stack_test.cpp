// call_stack: what backtrace() gives, at the first time and at every later one.
#include "gradus/autograd/engine/call_stack.h"

#include <alloca.h>
#include <execinfo.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace gradus {
namespace {

// The two calls below differ in the innermost address alone.
[[gnu::noinline]] void expect_backtrace() {
  const std::vector<void*> stack = call_stack();
  std::vector<void*> expected(64);
  expected.resize(static_cast<size_t>(backtrace(expected.data(), 64)));
  ASSERT_EQ(stack.size(), expected.size());
  ASSERT_GT(stack.size(), 1U);
  EXPECT_TRUE(std::equal(stack.begin() + 1, stack.end(), expected.begin() + 1));
}

[[gnu::noinline]] void two_places() {
  expect_backtrace();
  expect_backtrace();
}

// depth calls of frames with some more bytes each.
[[gnu::noinline]] void go_down(int depth, size_t bytes, const std::function<void()>& f) {
  auto* const room = static_cast<volatile char*>(alloca(bytes + 1));
  room[bytes] = 0;
  depth > 0 ? go_down(depth - 1, bytes, f) : f();
  room[0] = 1;
}

TEST(CallStack, IsThatOfBacktrace) {
  const auto in_many_ways = [] {
    for (int time = 0; time < 3; ++time) {
      two_places();
      for (const int depth : {0, 1, 3, 30, 3, 100})
        for (const size_t bytes : {0, 100, 200, 0}) go_down(depth, bytes, two_places);
      go_down(2, 0, expect_backtrace);
    }
  };
  in_many_ways();
  std::thread(in_many_ways).join();
}

// Stacks that begin at one place are told apart by every frame.
[[gnu::noinline]] void this_way(const std::function<void()>& f) {
  f();
  EXPECT_FALSE(call_stack().empty());
}
[[gnu::noinline]] void that_way(const std::function<void()>& f) {
  f();
  EXPECT_FALSE(call_stack().empty());
}
TEST(CallStack, TellsWaysToOnePlaceApart) {
  std::vector<void*> first, second;
  for (int time = 0; time < 3; ++time) {
    this_way([&] { first = call_stack(); });
    that_way([&] { second = call_stack(); });
    this_way([&] { expect_backtrace(); });
    that_way([&] { expect_backtrace(); });
    EXPECT_NE(first, second);
  }
}

TEST(CallStack, ForgetsWhatAreTooMany) {
  for (int time = 0; time < 2; ++time)
    for (size_t bytes = 0; bytes < 5000; ++bytes) go_down(1, 16 * bytes, [] { call_stack(); });
  two_places();
}

}  // namespace
}  // namespace gradus
