// Errors of DataParallel: of its arguments, its replicas and its graphs.
#include <cstring>

#include "tests/nn/parallel/nets.h"

namespace gradus {
namespace {

struct NotCloneableImpl : nn::Module {
  Tensor forward(const Tensor& x) { return x; }
};
GRADUS_MODULE(NotCloneable);

TEST(Errors, OfTheConstructor) {
  Mlp net(3, 4, 2);
  if (!cuda::is_available())
    expect_error<Error>([&] { nn::DataParallel parallel(net); },
                        "give it as often as there should be replicas: {kCPU, kCPU}");
  expect_error<ValueError>([&] { nn::DataParallel parallel(net, Devices{}); }, "empty list");
  expect_error<ValueError>([&] { nn::DataParallel parallel(net, {-1}); }, "-1 is not the number");
  expect_error<Error>([&] { nn::DataParallel parallel(NotCloneable(), Devices(2, kCPU)); },
                      "clone() has not been implemented");
  expect_error<Error>([&] { nn::DataParallel parallel(Mlp(nullptr), Devices(2, kCPU)); },
                      "the module is empty");
}

TEST(Errors, AModuleElsewhereIsRefused) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  Mlp net(3, 4, 2);
  nn::DataParallel parallel(net, {0, 0});
  expect_error<Error>(
      [&] {
        parallel(ones({2, 3}));
      },
      "module must have its parameters and buffers on device cuda:0 "
      "(device_ids[0]) but found one of them on device: cpu");
  net->to(kCUDA);
  parallel(ones({2, 3}));
}

TEST(Errors, OfTheInputs) {
  Mlp net(3, 4, 2);
  nn::DataParallel parallel(net, {kCPU, kCPU});
  expect_error<ValueError>([&] { parallel(ones({})); }, "without dimensions cannot be shared out");
  nn::DataParallel far(net, {kCPU, kCPU}, std::nullopt, 5);
  EXPECT_THROW(far(ones({2, 3})), IndexError);
}

struct TwoImpl : nn::Cloneable<TwoImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x, const Tensor&) { return x; }
};
GRADUS_MODULE(Two);

TEST(Errors, InputsThatFallIntoOtherNumbersOfParts) {
  nn::DataParallel parallel(Two(), {kCPU, kCPU, kCPU, kCPU});
  expect_error<ValueError>([&] { parallel(ones({8}), ones({2})); },
                           "of shape [8] falls into 4 parts, that of shape [2] into 2");
  EXPECT_EQ(parallel(ones({8}), ones({4})).numel(), 8);
}

// Its input tells it what to do.
struct WilfulImpl : nn::Cloneable<WilfulImpl> {
  WilfulImpl() { reset(); }
  void reset() override { w = register_parameter("w", ones({1})); }
  Tensor forward(const Tensor& x) {
    const int64_t wish = x[0].item<int64_t>();
    if (wish == 1) fail<IndexError>("as was wished");
    if (wish == 2) throw std::runtime_error("something else");
    if (wish == 3) return w * ones({2, 2});
    if (wish == 4) return Tensor();
    if (wish == 5) return (w * x).to(kDouble);
    if (wish == 6) {
      const Tensor y = w * x;
      y.register_hook([](const Tensor&) { fail<TypeError>("in the hook"); });
      return y;
    }
    if (wish == 7) (w * x).sum().backward();
    if (wish == 8) throw 8;
    if (kept.defined()) return w * x + kept;
    return w * x;
  }
  Tensor w, kept;
};
GRADUS_MODULE(Wilful);

TEST(Errors, OfOneReplicaReachTheCaller) {
  Wilful net;
  nn::DataParallel parallel(net, {kCPU, kCPU, kCPU});
  const Tensor fine = tensor({0.f, 0.f, 0.f});
  const auto wish = [&](float what) { parallel(tensor({0.f, 0.f, what})); };
  for (int round = 0; round < 3; ++round) {
    expect_error<IndexError>([&] { wish(1); },
                             "as was wished\nin Wilful (in replica 2 on cpu)\nin DataParallel");
    expect_error<ValueError>([&] { wish(3); }, "replica 2 returned shape [2, 2]");
    expect_error<ValueError>([&] { wish(4); }, "undefined");
    expect_error<TypeError>([&] { wish(5); }, "replica 2 returned float64");
    expect_error<Error>([&] { wish(7); }, "from within the module's forward");
    EXPECT_THROW(wish(8), Error);
    EXPECT_EQ(parallel(fine).numel(), 3);  // and all goes on
  }
  // Of several errors the first one is thrown.
  expect_error<IndexError>([&] { parallel(tensor({0.f, 1.f, 2.f})); }, "replica 1");
  try {
    wish(2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "something else (in replica 2 on cpu)\nin DataParallel");
    EXPECT_THROW(std::rethrow_if_nested(error), std::runtime_error);
  }
}

TEST(Errors, OfABackwardPassChangeNothing) {
  Wilful net;
  nn::DataParallel parallel(net, {kCPU, kCPU, kCPU});
  const Tensor y = parallel(tensor({0.f, 6.f, 0.f}));
  expect_error<TypeError>([&] { y.sum().backward(); }, "in the hook");
  EXPECT_FALSE(net->w.grad().defined());
  parallel(tensor({0.f, 0.5f, 0.f})).sum().backward();
  expect_values(net->w.grad(), {0.5});
}

struct HoardingImpl : nn::Cloneable<HoardingImpl> {
  HoardingImpl() { reset(); }
  void reset() override { w = register_parameter("w", ones({1})); }
  Tensor forward(const Tensor& x) {
    const Tensor y = kept.defined() ? w * x + kept : w * x;
    kept = y;
    return y;
  }
  Tensor w, kept;
};
GRADUS_MODULE(Hoarding);

TEST(Errors, AGraphOfAnEarlierForwardIsAPartOfALaterOne) {
  Hoarding net;
  nn::DataParallel parallel(net, {kCPU, kCPU});
  parallel(ones({2}));
  const Tensor y = parallel(full({2}, 3.f));
  y.sum().backward();
  expect_values(net->w.grad(), {2 * (1 + 3)});
}

}  // namespace
}  // namespace gradus
