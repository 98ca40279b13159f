// saved_tensors_hooks and save_on_cpu: gradients from what hooks keep.
#include "gradus/autograd/tools/saved_tensors_hooks.h"

#include "tests/support.h"

namespace gradus {
namespace {

using autograd::graph::save_on_cpu, autograd::graph::saved_tensors_hooks;

Tensor leaf_with(const std::vector<double>& values) {
  return tensor(values, kDouble).requires_grad_();
}

// A function that saves inputs, an output, and tensors in between.
Tensor computed(const Tensor& x) { return (x.exp() * x).tanh().sum(); }

TEST(SavedTensorsHooks, BackwardSeesWhatUnpackMakes) {
  Tensor x = leaf_with({0.5, -1}), y;
  int packed = 0, unpacked = 0;
  {
    const saved_tensors_hooks hooks(
        [&](const Tensor& t) {
          EXPECT_FALSE(t.requires_grad());
          ++packed;
          return t * 10;
        },
        [&](const Tensor& t) {
          ++unpacked;
          return t;  // ten times the tensor
        });
    y = (x * x).sum();
  }
  EXPECT_EQ(packed, 2);  // both operands, as in PyTorch
  y.backward();
  EXPECT_EQ(unpacked, 2);
  expect_values(x.grad(), {10, -20}, 1e-14);
  const Tensor z = x * x;  // outside of the hooks
  EXPECT_EQ(packed, 2);
}

TEST(SavedTensorsHooks, GiveTheSameGradientsWhereTheyKeepTheSame) {
  const std::vector<double> values = {0.5, -1, 2};
  const Tensor plain = leaf_with(values), hooked = leaf_with(values);
  computed(plain).backward();
  Tensor y;
  {
    // Any value may stand for a tensor: here its numbers.
    const saved_tensors_hooks hooks(
        [](const Tensor& t) { return std::pair(to_vector(t), t.sizes().vec()); },
        [](const std::pair<std::vector<double>, std::vector<int64_t>>& kept) {
          return tensor(kept.first, kDouble).view(kept.second);
        });
    y = computed(hooked);
  }
  y.backward({}, /*retain_graph=*/true);
  expect_values(hooked.grad(), to_vector(plain.grad()), 1e-15);
  // Gradients of gradients pass through what was unpacked.
  const Tensor first = autograd::grad({computed(plain)}, {plain}, {}, true, true)[0];
  const Tensor first_hooked = autograd::grad({y}, {hooked}, {}, true, true)[0];
  const auto second = [](const Tensor& f, const Tensor& x) {
    return to_vector(autograd::grad({f.sum()}, {x})[0]);
  };
  expect_values(autograd::grad({first_hooked.sum()}, {hooked})[0], second(first, plain), 1e-14);
}

TEST(SavedTensorsHooks, NestAndFreeWhatTheGraphFrees) {
  struct Counted {
    explicit Counted(Tensor x) : tensor(std::move(x)), alive(std::make_shared<int>()) {}
    Tensor tensor;
    std::shared_ptr<int> alive;
  };
  std::vector<std::weak_ptr<int>> all;
  const Tensor x = leaf_with({3});
  const saved_tensors_hooks outer([](const Tensor& t) { return t; },
                                  [](const Tensor& t) { return t; });
  {
    const saved_tensors_hooks inner(
        [&](const Tensor& t) {
          Counted out(t);
          all.push_back(out.alive);
          return out;
        },
        [](const Counted& kept) { return kept.tensor; });
    const auto alive = [&] {
      return std::count_if(all.begin(), all.end(), [](const auto& one) { return !one.expired(); });
    };
    Tensor y = x.exp();
    EXPECT_EQ(alive(), 1);
    Tensor z = y * y;
    EXPECT_EQ(alive(), 3);
    z.reset();  // while the hooks go on
    EXPECT_EQ(alive(), 1);
    y.sum().backward();
    EXPECT_EQ(alive(), 0);
  }
  const size_t before = all.size();
  const Tensor again = x * x;
  EXPECT_EQ(all.size(), before);
}

TEST(SavedTensorsHooks, RefuseHooksThatChangeWhatTheyGet) {
  const Tensor x = leaf_with({3});
  const auto same = [](const Tensor& t) { return t; };
  {
    const saved_tensors_hooks hooks([](Tensor t) { return t.add_(1); }, same);
    const Tensor y = x.detach() + 1;
    expect_error<Error>([&] { x* y; }, "A saved tensor pack hook is modifying its input in place");
  }
  Tensor y;
  {
    const saved_tensors_hooks hooks(same, [](const Tensor& t) { return t.to(kFloat); });
    y = x * x;
  }
  expect_error<Error>([&] { y.backward(); },
                      "saved_tensors_hooks: unpack returned CPUFloatType of shape [1], expected ");
}

TEST(SaveOnCpu, KeepsNothingOnTheGpu) {
  const std::vector<double> values(1 << 14, 0.5);
  for (const Device device : cpu_and_cuda())
    for (const bool pin : {false, true}) {
      if (pin && !cuda::is_available()) continue;
      const Tensor x = leaf_with(values);
      const Tensor there = x.detach().to(device).requires_grad_();
      computed(x).backward();
      Tensor y;
      if (device.is_cuda()) cuda::reset_peak_memory_stats();
      const int64_t before = device.is_cuda() ? cuda::memory_stats().allocated : 0;
      {
        const save_on_cpu hooks(pin);
        y = computed(there);
      }
      if (device.is_cuda()) {  // the result alone
        EXPECT_LE(cuda::memory_stats().allocated - before, 512);
      }
      y.backward();
      expect_values(there.grad(), to_vector(x.grad()), 1e-12);
    }
}

}  // namespace
}  // namespace gradus
