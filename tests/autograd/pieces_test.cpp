// Large gradients are computed in pieces. A hook of the leaf is told of each piece, unless the
// gradient that arrives at the end is another tensor.
#include <optional>

#include "gradus/autograd/engine/meta.h"
#include "tests/piece_sizes.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;
using Ends = std::vector<int64_t>;

struct Seen {
  Ends ends;           // of the rows that it was told of
  Tensor shown, grad;  // what they were of, and what arrived
  int arrivals = 0;
};

struct Listener final : autograd::PostAccumulateGradHook {
  Listener(Seen& to, const Tensor& of, const Tensor& expected)
      : seen(to), weight(of), whole(expected) {}
  void rows_computed(const Tensor& grad, int64_t end) override {
    EXPECT_EQ(seen.arrivals, 0);
    seen.ends.push_back(end);
    seen.shown = grad;
    EXPECT_TRUE(equal(grad.narrow(0, 0, end), whole.narrow(0, 0, end))) << end;
  }
  void operator()(const Tensor& leaf) override {
    ++seen.arrivals;
    seen.grad = leaf.grad();
  }
  Seen& seen;
  Tensor weight, whole;
};

// Makes the engine compute the gradient in a given tensor.
struct Host final : autograd::PostAccumulateGradHook {
  explicit Host(const Tensor& of) : place(of) {}
  Tensor memory() override { return ++asked, place; }
  void operator()(const Tensor&) override {}
  Tensor place;
  int asked = 0;
};

struct Idle final : autograd::FunctionPostHook {
  Tensors operator()(const Tensors& outputs, const Tensors&) override { return outputs; }
};
struct IdleBefore final : autograd::FunctionPreHook {
  Tensors operator()(const Tensors& grads) override { return grads; }
};

std::shared_ptr<AccumulateGrad> accumulator_of(const Tensor& leaf) {
  return std::dynamic_pointer_cast<AccumulateGrad>(gradient_edge(leaf).function);
}

class Pieces : public testing::TestWithParam<DeviceType> {
 protected:
  void SetUp() override {
    if (GetParam() == kCUDA && !cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
    manual_seed(1);
    x = on(randn({5, 8}));
    weight = on(randn({11, 8})).requires_grad_();
  }
  Tensor on(const Tensor& t) const { return t.to(Device(GetParam(), 0)); }

  // The events at the weight's accumulator during pass(). The pass is compared with one without
  // pieces.
  Seen listen(const std::function<void()>& pass) {
    const Tensor before = weight.grad().defined() ? weight.grad().clone() : Tensor();
    pass();
    const Tensor expected = weight.grad().defined() ? weight.grad().clone() : Tensor();
    weight.mutable_grad() = before;
    Seen seen;
    accumulator = accumulator_of(weight);
    const auto hook = std::make_shared<Listener>(seen, weight, expected);
    accumulator->add_post_accumulate_hook(hook);
    {
      const SmallPieces small(terms);
      pass();
    }
    accumulator->del_post_accumulate_hook(hook.get());
    EXPECT_EQ(expected.defined(), weight.grad().defined());
    if (expected.defined()) {
      EXPECT_TRUE(equal(weight.grad(), expected));
    }
    return seen;
  }
  void expect_whole(const std::function<void()>& pass, int arrivals = 1) {
    const Seen seen = listen(pass);
    EXPECT_EQ(seen.ends, Ends{});
    EXPECT_EQ(seen.arrivals, arrivals);
    weight.mutable_grad() = Tensor();
  }
  void plain() { F::linear(x, weight).square().sum().backward(); }

  Tensor x, weight;
  std::shared_ptr<AccumulateGrad> accumulator;
  int64_t terms = 1;
};
INSTANTIATE_TEST_SUITE_P(Devices, Pieces, testing::Values(kCPU, kCUDA));

TEST_P(Pieces, CoverTheGradientOnceAndInOrder) {
  const Seen seen = listen([&] { plain(); });
  EXPECT_EQ(seen.ends, (Ends{4, 8, 11}));
  EXPECT_EQ(seen.arrivals, 1);
  // Nothing was copied: the pieces are parts of grad() itself.
  EXPECT_EQ(seen.shown.data_ptr(), weight.grad().data_ptr());
  EXPECT_EQ(seen.grad.data_ptr(), weight.grad().data_ptr());
}

TEST_P(Pieces, OfMoreDimensionsWithBiasAndInDouble) {
  x = on(randn({2, 3, 8}));
  const Tensor bias = on(randn({11})).requires_grad_();
  EXPECT_EQ(listen([&] { F::linear(x, weight, bias).square().sum().backward(); }).ends,
            (Ends{4, 8, 11}));
  x = x.to(kDouble), weight = weight.detach().to(kDouble).requires_grad_();
  EXPECT_EQ(listen([&] { plain(); }).ends, (Ends{2, 4, 6, 8, 10, 11}));
}

TEST_P(Pieces, StayWholeWhereAnotherPartIsAdded) {
  expect_whole(
      [&] { (F::linear(x, weight) + F::linear(x + 1, weight)).square().sum().backward(); });
  expect_whole([&] { (F::linear(x, weight).sum() + weight.square().sum()).backward(); });
  expect_whole([&] { F::linear(weight, weight).sum().backward(); });
  expect_whole([&] {
    autograd::backward({F::linear(x, weight).sum(), weight}, {Tensor(), ones_like(weight)});
  });
  plain();  // onto what is there already
  expect_whole([&] { plain(); });
}

TEST_P(Pieces, StayWholeWhereSomebodyMayChangeThem) {
  const unsigned hook = weight.register_hook([](const Tensor& grad) { return grad * 2; });
  expect_whole([&] { plain(); });
  weight.remove_hook(hook);
  accumulator = accumulator_of(weight);
  expect_whole([&] {
    const auto second = accumulator->add_post_hook(std::make_unique<Idle>());
    plain();
    accumulator->del_post_hook(second);
  });
  expect_whole([&] {
    const auto second = std::make_shared<Host>(Tensor());
    accumulator->add_post_accumulate_hook(second);
    plain();
    accumulator->del_post_accumulate_hook(second.get());
  });
  expect_whole([&] {
    const Tensor y = F::linear(x, weight);
    y.grad_fn()->add_post_hook(std::make_unique<Idle>());
    y.square().sum().backward();
  });
  EXPECT_EQ(listen([&] { plain(); }).ends.size(), 3U);
  weight.mutable_grad() = Tensor();
  accumulator->add_pre_hook(std::make_unique<IdleBefore>());
  expect_whole([&] { plain(); });
}

TEST_P(Pieces, StayWholeWhereAnotherGradientArrives) {
  expect_whole([&] { F::linear(x, weight).square().sum().backward({}, true, true); });
  expect_whole([&] { F::linear(x, weight * 1).square().sum().backward(); });
  expect_whole([&] { F::linear(x, weight.to(kDouble).to(kFloat)).square().sum().backward(); });
  const Tensor loss = F::linear(x, weight).square().sum();
  expect_whole([&] { autograd::backward({loss}, {}, true, false, {weight}); });
  expect_whole([&] { autograd::grad({loss}, {weight}, {}, true); }, 0);
}

TEST_P(Pieces, StayWholeWhereTheyAreNotWorthIt) {
  terms = 6;
  expect_whole([&] { plain(); });
  x = x.to(kHalf), weight = weight.detach().to(kHalf).requires_grad_();
  terms = 1;
  expect_whole([&] { F::linear(x, weight).sum().backward(); });
  x = on(randn({5, 4})), weight = on(randn({16, 4})).requires_grad_();
  expect_whole([&] { plain(); });  // 256 bytes
}

TEST_P(Pieces, AHookThatHasSeenAWholeGradientDoesNotMakeACopy) {
  x = on(randn({5, 2})), weight = on(randn({3, 2})).requires_grad_();
  const Seen seen = listen([&] { plain(); });
  EXPECT_EQ(seen.ends, Ends{});
  EXPECT_EQ(seen.grad.data_ptr(), weight.grad().data_ptr());
}

TEST(PieceSizes, DependOnTheShapeAlone) {
  using autograd::rows_of_piece;
  EXPECT_EQ(rows_of_piece({8192, 1024}, 4), 8192);  // 32 MiB
  EXPECT_EQ(rows_of_piece({8192, 8192}, 4), 1024);  // 32 MiB each
  EXPECT_EQ(rows_of_piece({8192, 4096}, 4), 2048);
  EXPECT_EQ(rows_of_piece({8193, 5000}, 4), 1536);
  EXPECT_EQ(rows_of_piece({512, 1000000}, 4), 256);  // not fewer
  EXPECT_EQ(rows_of_piece({100, 1000000}, 4), 100);
  EXPECT_EQ(rows_of_piece({1 << 24}, 4), 1 << 23);
  EXPECT_EQ(rows_of_piece({}, 4), 1);
  EXPECT_EQ(rows_of_piece({0, 5}, 4), 0);
  const SmallPieces small;
  EXPECT_EQ(autograd::piece_ends(ones({11, 8})), (Ends{32, 64, 88}));
  EXPECT_EQ(autograd::piece_ends(ones({100})), (Ends{32, 64, 96, 100}));
  EXPECT_EQ(autograd::piece_ends(ones({64})), Ends{64});
  EXPECT_EQ(autograd::piece_ends(ones({})), Ends{1});
  EXPECT_EQ(autograd::piece_ends(ones({0, 3})), Ends{0});
}

// A leaf's hook may choose the memory in which its gradient is computed, whole or in pieces.
TEST_P(Pieces, AGradientIsComputedInTheReceiversMemory) {
  plain();
  const Tensor expected = std::exchange(weight.mutable_grad(), Tensor());
  accumulator = accumulator_of(weight);
  auto host = std::make_shared<Host>(on(zeros({11, 8})));
  Host& held = *host;
  accumulator->add_post_accumulate_hook(host);
  for (const bool cut : {false, true}) {
    held.place.fill_(0);
    weight.mutable_grad() = Tensor();
    std::optional<SmallPieces> small;
    if (cut) small.emplace(terms);
    plain();
    EXPECT_EQ(weight.grad().data_ptr(), held.place.data_ptr());
    EXPECT_TRUE(equal(held.place, expected));
  }
  EXPECT_EQ(held.asked, 2);
}

TEST_P(Pieces, NoMemoryIsAskedForWhatIsAddedToSomethingElse) {
  accumulator = accumulator_of(weight);
  auto host = std::make_shared<Host>(on(zeros({11, 8})));
  Host& held = *host;
  accumulator->add_post_accumulate_hook(host);
  (F::linear(x, weight) + F::linear(x + 1, weight)).square().sum().backward();
  plain();  // onto what is there already
  weight.mutable_grad() = Tensor();
  F::linear(x, weight).square().sum().backward({}, true, true);
  weight.mutable_grad() = Tensor();  // whose graph leads back to it
  autograd::grad({F::linear(x, weight).sum()}, {weight});
  EXPECT_EQ(held.asked, 0);
  EXPECT_EQ(held.place.abs().sum().item<float>(), 0);
}

}  // namespace
}  // namespace gradus
