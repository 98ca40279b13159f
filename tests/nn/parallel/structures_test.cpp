// Arguments and results of forward().
#include <cstring>
#include <map>
#include <unordered_map>

#include "tests/nn/parallel/nets.h"

namespace gradus {
namespace {

using Row = std::tuple<Tensor, std::vector<Tensor>, std::map<std::string, Tensor>>;

struct NestedImpl : nn::Cloneable<NestedImpl> {
  NestedImpl() { reset(); }
  void reset() override { w = register_parameter("w", full({1}, 2.0, kDouble)); }

  Row forward(const Tensor& x, const std::pair<Tensor, std::vector<Tensor>>& more,
              const std::map<std::string, Tensor>& named, std::optional<Tensor> extra,
              double factor, bool negate, const std::string& key, const Tensor& absent) {
    EXPECT_FALSE(absent.defined());
    Tensor y = x * w * factor + more.first;
    for (const Tensor& each : more.second) y = y + each;
    if (extra) y = y * *extra;
    if (negate) y = -y;
    return {y, {y.sum(), x.size(0) * ones({x.size(0)}, kDouble)}, {{key, named.at(key) * w}}};
  }
  Tensor w;
};
GRADUS_MODULE(Nested);

void expect_equal(const Row& a, const Row& b, size_t replicas) {
  expect_values(std::get<0>(a), to_vector(std::get<0>(b)), 1e-12);
  ASSERT_EQ(std::get<1>(a).size(), 2u);
  EXPECT_EQ(std::get<1>(a)[0].sizes(), IntArrayRef({static_cast<int64_t>(replicas)}));
  expect_values(std::get<1>(a)[0].sum(), to_vector(std::get<1>(b)[0]), 1e-12);
  ASSERT_EQ(std::get<2>(a).size(), 1u);
  expect_values(std::get<2>(a).at("k"), to_vector(std::get<2>(b).at("k")), 1e-12);
}

TEST(Structures, NestedArgumentsAndResults) {
  for (const Devices& devices : device_lists()) {
    if (devices.size() == 1) continue;
    SCOPED_TRACE(name_of(devices));
    Nested net;
    const auto rows = [&] { return randn({6, 2}, kDouble); };
    const Tensor x = rows().requires_grad_(), y = rows().requires_grad_(), z = rows();
    const auto more = std::make_pair(y, Tensors{z, x});
    const std::map<std::string, Tensor> named{{"k", rows()}};
    const std::optional<Tensor> extra = rows();
    const Row plain = net(x, more, named, extra, 3.0, true, "k", Tensor());
    (std::get<0>(plain).sum() + std::get<1>(plain)[0] + std::get<2>(plain).at("k").sum())
        .backward();
    const auto take = [](const Tensor& leaf) {
      const Tensor grad = leaf.grad();
      leaf.mutable_grad() = Tensor();
      return to_vector(grad);
    };
    const auto of_x = take(x), of_y = take(y), of_w = take(net->w);

    net->to(devices[0]);
    nn::DataParallel parallel(net, devices);
    const Row joined = parallel(x, more, named, extra, 3.0, true, "k", Tensor());
    const size_t largest = (6 + devices.size() - 1) / devices.size();
    expect_equal(joined, plain, (6 + largest - 1) / largest);
    (std::get<0>(joined).sum() + std::get<1>(joined)[0].sum() + std::get<2>(joined).at("k").sum())
        .backward();
    expect_values(x.grad(), of_x, 1e-12);
    expect_values(y.grad(), of_y, 1e-12);
    expect_values(net->w.grad(), of_w, 1e-12);
  }
}

struct AlongImpl : nn::Cloneable<AlongImpl> {
  AlongImpl() { reset(); }
  void reset() override { w = register_parameter("w", full({1}, 3.0)); }
  std::vector<Tensor> forward(const Tensor& x) {
    return {x * w, (x * 2).to(kLong), x.sum(), x.mean({0}, true)};
  }
  Tensor w;
};
GRADUS_MODULE(Along);

TEST(Structures, AnotherDimension) {
  Along net;
  nn::DataParallel parallel(net, {kCPU, kCPU, kCPU}, std::nullopt, /*dim=*/1);
  const Tensor x = randn({2, 7, 3});
  const Tensors out = parallel(x);
  expect_values(out[0], to_vector(x * 3));
  EXPECT_EQ(out[1].dtype(), kLong);
  EXPECT_FALSE(out[1].requires_grad());
  EXPECT_EQ(out[2].sizes(), IntArrayRef({3}));
  EXPECT_EQ(out[3].sizes(), IntArrayRef({1, 7, 3}));
  out[0].sum().backward();
  expect_values(net->w.grad(), {x.sum().item<double>()}, 1e-4);
  nn::DataParallel last(net, {kCPU, kCPU}, std::nullopt, /*dim=*/-1);
  expect_values(last(x)[0], to_vector(x * 3));
}

struct MapsImpl : nn::Cloneable<MapsImpl> {
  void reset() override {}
  std::unordered_map<std::string, Tensor> forward(const Tensor& x) {
    std::unordered_map<std::string, Tensor> out;
    // In another order in every replica.
    const int64_t first = x[0][0].item<int64_t>();
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t k = (i * 7 + first) % 20;
      out[std::to_string(k)] = x + k;
    }
    return out;
  }
};
GRADUS_MODULE(Maps);

TEST(Structures, MapsGoByTheirKeys) {
  nn::DataParallel parallel(Maps(), {kCPU, kCPU, kCPU});
  const Tensor x = arange(6).reshape({6, 1});
  const auto out = parallel(x);
  ASSERT_EQ(out.size(), 20u);
  for (int64_t k = 0; k < 20; ++k) EXPECT_TRUE(equal(out.at(std::to_string(k)), x + k)) << k;
}

struct NoInputImpl : nn::Cloneable<NoInputImpl> {
  void reset() override {}
  Tensor forward() { return ones({2}); }
  Tensor forward(int64_t count) { return full({count}, count); }
};
GRADUS_MODULE(NoInput);

TEST(Structures, WithoutTensors) {
  nn::DataParallel parallel(NoInput(), {kCPU, kCPU, kCPU});
  EXPECT_EQ(parallel().sizes(), IntArrayRef({2}));             // one replica
  EXPECT_EQ(parallel(int64_t{4}).sizes(), IntArrayRef({12}));  // each gets the number
}

TEST(Structures, TheResultsGoToTheOutputDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Device gpu(kCUDA, 0);
  Mlp net(3, 4, 2);
  net->to(gpu);
  for (const Devices& devices : {Devices{gpu}, Devices{gpu, gpu}}) {
    nn::DataParallel parallel(net, devices, Device(kCPU));
    const Tensor y = parallel(ones({4, 3}));  // the input may come from anywhere
    EXPECT_TRUE(y.is_cpu());
    y.sum().backward();
    EXPECT_EQ(net->scale.grad().device(), gpu);
  }
}

TEST(Structures, TheFreeFunctionTakesAModuleFromAnywhere) {
  Mlp net(3, 4, 2);
  const Tensor x = randn({5, 3});
  const auto expected = to_vector(net(x));
  net(x).sum().backward();
  const Tensor grad = net->scale.grad();
  for (const Devices& devices : device_lists()) {
    SCOPED_TRACE(name_of(devices));
    net->to(kCPU);
    net->zero_grad();
    const Tensor y = nn::parallel::data_parallel(net, x, devices);
    EXPECT_EQ(y.device(), devices[0]);
    expect_values(y, expected, 1e-5);
    y.sum().backward();
    expect_values(net->scale.grad(), to_vector(grad), 1e-5);
    EXPECT_TRUE(net->scale.is_cpu() || devices.size() == 1);
  }
  const Tensor y = nn::parallel::data_parallel(net.ptr(), x, Devices{kCPU, kCPU}, Device(kCPU), 0);
  expect_values(y, expected);
}

TEST(Structures, ItIsAModuleAmongOthers) {
  nn::Linear fc(3, 4);
  nn::Sequential net(nn::Linear(2, 3), nn::DataParallel(fc, {kCPU, kCPU}), nn::ReLU());
  EXPECT_EQ(net->named_parameters().keys(),
            (std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias"}));
  net->forward(randn({5, 2})).sum().backward();
  EXPECT_TRUE(fc->weight.grad().defined());
  std::ostringstream text;
  text << *net;
  EXPECT_NE(text.str().find("DataParallel(\n    (module): gradus::nn::Linear("), std::string::npos)
      << text.str();
}

}  // namespace
}  // namespace gradus
