// Graphs of a million operations, recorded, run and freed on a thread of a small stack.
#include <pthread.h>

#include <cerrno>

#include "tests/support.h"

namespace gradus {
namespace {

constexpr int kOperations = 1000000;
// A frame per operation would need a hundred times as much. Sanitizers make all frames larger.
constexpr size_t kStack = 256 * 1024;

// Runs f on a new thread. Returns the result of pthread_create.
int run_on_stack(size_t size, void (*f)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  const auto enter = [](void* call) -> void* {
    reinterpret_cast<void (*)()>(call)();
    return nullptr;
  };
  int status = pthread_attr_setstacksize(&attributes, size);
  if (status == 0) status = pthread_create(&thread, &attributes, enter, reinterpret_cast<void*>(f));
  if (status == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return status;
}

void on_small_stack(void (*f)()) {
  // The thread-local variables of the program lie on the stack as well, and are hundreds of
  // kilobytes where devices are simulated.
  size_t least = 64 * 1024;
  while (run_on_stack(least, [] {}) == EINVAL && least < 64 * kStack) least += 64 * 1024;
  ASSERT_EQ(run_on_stack(least + kStack, f), 0);
}

struct Same : autograd::Function<Same> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    ctx->saved_data["too"] = x;
    return x.clone();
  }
  static Tensors backward(autograd::AutogradContext*, Tensors grads) { return {grads[0]}; }
};

TEST(Depth, ALongGraphRunsAndIsFreed) {
  on_small_stack([] {
    const Tensor x = ones({1}, requires_grad());
    Tensor y = x;
    for (int i = 0; i < kOperations; ++i) y = y + 1;
    y.backward();
    y = Tensor();
    expect_values(x.grad(), {1});
  });
}

TEST(Depth, AGraphThatSavedItsTensorsIsFreedWithoutABackward) {
  on_small_stack([] {
    const Tensor x = ones({1}, requires_grad());
    std::weak_ptr<Node> first;
    {
      Tensor y = x.sin();
      first = y.grad_fn();
      for (int i = 0; i < kOperations; ++i) y = y.sin();
    }
    EXPECT_TRUE(first.expired());
  });
}

TEST(Depth, ThroughViewsChangesInPlaceAndFunctions) {
  on_small_stack([] {
    const Tensor x = ones({2}, requires_grad());
    Tensor y = x * 1;
    for (int i = 0; i < kOperations / 20; ++i) {
      y = y.view({2, 1}).squeeze(1);
      Tensor part = y.narrow(0, 0, 1);
      part.mul_(1);
      y.add_(0);
      y = Same::apply(y);
    }
    y.sum().backward();
    expect_values(x.grad(), {1, 1});
    Tensor dropped = x * 1;
    for (int i = 0; i < kOperations / 20; ++i) dropped = Same::apply(dropped.view({2}));
  });
}

TEST(Depth, AGradientOfALongGraphIsFreed) {
  on_small_stack([] {
    const Tensor x = ones({1}, requires_grad());
    Tensor y = x;
    for (int i = 0; i < kOperations / 20; ++i) y = y.sin();
    const Tensor first = autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)[0];
    EXPECT_TRUE(autograd::grad({first}, {x})[0].defined());
  });
}

}  // namespace
}  // namespace gradus
