// DataParallel equals its module alone, on every list of devices.
#include <cstring>

#include "tests/nn/parallel/nets.h"

namespace gradus {
namespace {

// Compares all results of a step with those of the module alone on the first device.
void expect_like_plain(const Devices& devices, int64_t rows) {
  SCOPED_TRACE(name_of(devices) + std::to_string(rows) + " rows");
  manual_seed(1);
  Mlp plain(5, 7, 3);
  plain->to(kDouble);
  plain->to(devices[0]);
  Mlp net(std::dynamic_pointer_cast<MlpImpl>(plain->clone()));
  nn::DataParallel parallel(net, devices);
  const Tensor x = randn({rows, 5}, kDouble).to(devices[0]);
  const Tensor a = x.clone().requires_grad_(), b = x.clone().requires_grad_();
  const Tensor weights = randn({rows, 3}, kDouble).to(devices[0]);
  for (int step = 0; step < 3; ++step) {
    const Tensor y = plain(a), z = parallel(b);
    ASSERT_EQ(z.sizes(), y.sizes());
    EXPECT_EQ(z.device(), devices[0]);
    expect_values(z, to_vector(y), 1e-12);
    (y * weights).sum().backward();
    (z * weights).sum().backward();
    const auto expected = plain->named_parameters(), got = parallel->named_parameters();
    ASSERT_EQ(expected.keys(), got.keys());
    for (const auto& item : expected) {
      ASSERT_TRUE(got[item.key()].grad().defined()) << item.key();
      expect_values(got[item.key()].grad(), to_vector(item.value().grad()), 1e-11);
    }
    expect_values(b.grad(), to_vector(a.grad()), 1e-11);
    optim::SGD one(plain->parameters(), 0.1), other(parallel->parameters(), 0.1);
    one.step();
    other.step();
    if (step == 1) one.zero_grad(), other.zero_grad();  // step 2 adds to the gradients of step 1
  }
}

TEST(DataParallel, EqualsTheModuleAloneOnEveryListOfDevices) {
  for (const Devices& devices : device_lists())
    for (const int64_t rows : {0, 1, 2, 5, 8, 19}) expect_like_plain(devices, rows);
}

// Replicas follow weights whose channels lie last, also ones that begin to do so.
TEST(DataParallel, FollowsWeightsInChannelsLast) {
  for (const Devices& devices : device_lists())
    for (const bool from_the_start : {true, false}) {
      SCOPED_TRACE(name_of(devices));
      nn::Sequential plain(nn::Conv2d(nn::Conv2dOptions(3, 4, 2)), nn::Flatten(),
                           nn::Linear(16, 2));
      plain->to(devices[0], kDouble);
      nn::Sequential net(std::dynamic_pointer_cast<nn::SequentialImpl>(plain->clone()));
      const auto turn = [&] {
        Tensor weight = net->parameters()[0];
        weight.set_data(weight.detach().contiguous(MemoryFormat::ChannelsLast));
      };
      if (from_the_start) turn();
      nn::DataParallel parallel(net, devices);
      optim::SGD one(plain->parameters(), 0.1), other(net->parameters(), 0.1);
      for (int step = 0; step < 3; ++step) {
        if (step == 1 && !from_the_start) turn();
        const Tensor x = randn({5, 3, 3, 3}, kDouble).to(devices[0]);
        const Tensor y = plain->forward(x), z = parallel(x);
        expect_values(z, to_vector(y), 1e-12);
        one.zero_grad(), other.zero_grad();
        y.square().sum().backward(), z.square().sum().backward();
        for (size_t i = 0; i < net->parameters().size(); ++i)
          expect_values(net->parameters()[i].grad(), to_vector(plain->parameters()[i].grad()),
                        1e-11);
        one.step(), other.step();
      }
      EXPECT_TRUE(net->parameters()[0].is_contiguous(MemoryFormat::ChannelsLast));
    }
}

TEST(DataParallel, InputsAndOutputGradientsMayBeChangedAtOnce) {
  for (const Devices& devices : device_lists()) {
    Mlp net(64, 8, 2);
    net->to(devices[0]);
    nn::DataParallel parallel(net, devices);
    const Tensor x = randn({600, 64}).to(devices[0]), kept = x.clone();
    const Tensor grad = randn({600, 2}).to(devices[0]);
    const Tensor y = net(kept);
    y.backward(grad);
    const auto expected = to_vector(net->scale.grad());
    net->zero_grad();
    {
      const NoGradGuard guard;
      const Tensor z = parallel(x);
      x.fill_(1e6);
      expect_values(z, to_vector(y), 1e-5);
    }
    parallel(kept).backward(grad);
    grad.fill_(1e6);
    expect_values(net->scale.grad(), expected, 1e-3);
  }
}

TEST(DataParallel, SharesOutAsChunkDoes) {
  Mlp net(5, 4, 2);
  nn::DataParallel parallel(net, {kCPU, kCPU, kCPU, kCPU});
  EXPECT_EQ(parallel(ones({5, 5})).sizes(), IntArrayRef({5, 2}));
  EXPECT_EQ(parallel(ones({0, 5})).sizes(), IntArrayRef({0, 2}));
  const Tensors parts = nn::parallel::scatter(ones({5, 2}), Devices(4, kCPU));
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].size(0), 2);
  EXPECT_EQ(parts[2].size(0), 1);
}

}  // namespace
}  // namespace gradus
