// Calls whose allocations fail, one after the other: after an error nothing may have changed.
#pragma once

#include <atomic>
#include <functional>

#include "gradus/cpu/blocks.h"
#include "tests/support.h"

namespace gradus {

// While it lives, the block of the CPU that comes after so many others cannot be had.
class FailingBlock {
 public:
  explicit FailingBlock(int after) {
    left() = after;
    cpu::on_block = [](size_t nbytes) {
      check<OutOfMemoryError>(left()-- != 0, "allocate: no ", nbytes, " bytes, says the test");
    };
  }
  ~FailingBlock() { cpu::on_block = nullptr; }
  FailingBlock(const FailingBlock&) = delete;
  FailingBlock& operator=(const FailingBlock&) = delete;

 private:
  static std::atomic<int>& left() {
    static std::atomic<int> count;
    return count;
  }
};

// A call, and all tensors that it may change.
struct Attempt {
  std::function<void()> call;
  std::function<Tensors()> state;
};

// Lets each allocation of the call of a new attempt fail: the state stays as it was, and the call
// can be made again.
inline void expect_all_or_nothing(const std::function<Attempt()>& make) {
  const auto copies = [](const Attempt& attempt) {
    Tensors out;
    for (const Tensor& x : attempt.state()) out.push_back(x.detach().clone());
    return out;
  };
  for (int after = 0; after < 5'000; ++after) {
    SCOPED_TRACE("without block " + std::to_string(after));
    const Attempt attempt = make();
    const Tensors before = copies(attempt);
    bool failed = false;
    {
      const FailingBlock guard(after);
      try {
        attempt.call();
      } catch (const OutOfMemoryError&) {
        failed = true;
      }
    }
    if (!failed) return;
    const Tensors now = copies(attempt);
    ASSERT_EQ(now.size(), before.size());
    for (size_t i = 0; i < now.size(); ++i) {
      EXPECT_EQ(now[i].dtype(), before[i].dtype()) << "tensor " << i;
      EXPECT_TRUE(equal(now[i], before[i].to(now[i].dtype()))) << "tensor " << i;
    }
    if (testing::Test::HasFailure()) return;
    attempt.call();
  }
  FAIL() << "the call allocates without end";
}

}  // namespace gradus
