// The proof: n replicas give bit for bit the losses, gradients and weights of the same n shards
// that are computed one after the other on one device, and added in the order of sum_in_chain.
#include <cstring>
#include <functional>

#include "gradus/nn/parallel/replicas.h"
#include "tests/nn/parallel/nets.h"
#include "tests/piece_sizes.h"

namespace gradus {
namespace {

namespace F = nn::functional;
using Layer = std::function<Tensor(const Tensor&)>;

// Linear layers before and after any function of a matrix.
struct AroundImpl : nn::Cloneable<AroundImpl> {
  AroundImpl(Layer layer_, int64_t width_) : layer(std::move(layer_)), width(width_) { reset(); }
  void reset() override {
    first = register_module("first", nn::Linear(6, 8));
    last = register_module("last", nn::Linear(width, 4));
  }
  Tensor forward(const Tensor& x) { return last(layer(first(x))); }
  Layer layer;
  int64_t width;
  nn::Linear first{nullptr}, last{nullptr};
};
GRADUS_MODULE(Around);

struct Setting {
  const char* name;
  Layer layer;
  int64_t width = 8;  // of what the layer returns
};

std::vector<Setting> settings() {
  const Tensor none;
  return {
      {"relu", [](const Tensor& x) { return nn::ReLU()(x); }},
      {"relu6", [](const Tensor& x) { return F::relu6(x); }},
      {"selu", [](const Tensor& x) { return F::selu(x); }},
      {"elu", [](const Tensor& x) { return F::elu(x); }},
      {"celu", [](const Tensor& x) { return F::celu(x); }},
      {"leaky_relu", [](const Tensor& x) { return F::leaky_relu(x); }},
      {"rrelu", [](const Tensor& x) { return F::rrelu(x, F::RReLUFuncOptions()); }},
      {"prelu", [](const Tensor& x) { return F::prelu(x, full({1}, 0.25, x.options())); }},
      {"hardtanh", [](const Tensor& x) { return F::hardtanh(x); }},
      {"threshold",
       [](const Tensor& x) {
         return F::threshold(x, {0.1, 0.2});
       }},
      {"hardshrink", [](const Tensor& x) { return F::hardshrink(x); }},
      {"softshrink", [](const Tensor& x) { return F::softshrink(x); }},
      {"softplus", [](const Tensor& x) { return F::softplus(x); }},
      {"glu", [](const Tensor& x) { return F::glu(x); }, 4},
      {"gelu", [](const Tensor& x) { return F::gelu(x); }},
      {"silu", [](const Tensor& x) { return F::silu(x); }},
      {"mish", [](const Tensor& x) { return F::mish(x); }},
      {"logsigmoid", [](const Tensor& x) { return F::logsigmoid(x); }},
      {"softsign", [](const Tensor& x) { return F::softsign(x); }},
      {"tanhshrink", [](const Tensor& x) { return F::tanhshrink(x); }},
      {"softmax", [](const Tensor& x) { return F::softmax(x, F::SoftmaxFuncOptions(1)); }},
      {"softmin", [](const Tensor& x) { return F::softmin(x, F::SoftminFuncOptions(1)); }},
      {"log_softmax",
       [](const Tensor& x) { return F::log_softmax(x, F::LogSoftmaxFuncOptions(1)); }},
      {"normalize", [](const Tensor& x) { return F::normalize(x); }},
      {"pad",
       [](const Tensor& x) {
         return F::pad(x, F::PadFuncOptions({1, 2}));
       },
       11},
      {"dropout in eval",
       [](const Tensor& x) { return F::dropout(x, F::DropoutFuncOptions().training(false)); }},
      {"sequential",
       [](const Tensor& x) { return nn::Sequential(nn::ReLU(), nn::ReLU())->forward(x); }},
  };
}

Tensor loss_of(bool classes, const Tensor& y, const Tensor& target) {
  return classes ? nn::CrossEntropyLoss()(y, target)
                 : nn::MSELoss()(y, F::one_hot(target, 4).to(y.dtype()));
}

// `devices` are of one kind.
template <class Net>
void prove(const Net& original, const Devices& devices, int64_t rows, int steps, bool classes) {
  using M = typename Net::ContainedType;
  SCOPED_TRACE(name_of(devices) + std::to_string(rows) + " rows");
  const Device home = devices[0];
  Net net(std::dynamic_pointer_cast<M>(original->clone(home)));
  Net alone(std::dynamic_pointer_cast<M>(original->clone(home)));
  nn::DataParallel parallel(net, devices);
  const auto options = optim::SGDOptions(0.05).momentum(0.9);
  optim::SGD sgd(parallel->parameters(), options), sgd_alone(alone->parameters(), options);
  manual_seed(5);
  for (int step = 0; step < steps; ++step) {
    const Tensor x = randn({rows, 6}).to(home), target = randint(4, {rows}).to(home);
    sgd.zero_grad();
    const Tensor loss = loss_of(classes, parallel(x), target);
    loss.backward();

    Tensors outputs;
    for (const Tensor& shard : x.chunk(static_cast<int64_t>(devices.size())))
      outputs.push_back(alone(shard));
    const Tensor all = cat(outputs, 0).detach().requires_grad_();
    const Tensor loss_alone = loss_of(classes, all, target);
    loss_alone.backward();
    const Tensors weights = alone->parameters();
    std::vector<Tensors> grads;
    int64_t begin = 0;
    for (const Tensor& y : outputs) {
      grads.push_back(autograd::grad({y}, weights, {all.grad().narrow(0, begin, y.size(0))}));
      begin += y.size(0);
    }
    ASSERT_TRUE(same_bits(loss, loss_alone)) << "loss of step " << step;
    const Tensors got = net->parameters();
    for (size_t i = 0; i < weights.size(); ++i) {
      Tensors parts;
      for (const Tensors& of_shard : grads) parts.push_back(of_shard[i]);
      weights[i].mutable_grad() = nn::parallel::sum_in_chain(parts);
      ASSERT_TRUE(same_bits(got[i].grad(), weights[i].grad()))
          << "gradient " << i << " of step " << step;
    }
    sgd.step();
    sgd_alone.step();
    for (size_t i = 0; i < weights.size(); ++i)
      ASSERT_TRUE(same_bits(got[i], weights[i])) << "weight " << i << " of step " << step;
  }
}

bool of_one_kind(const Devices& devices) {
  for (const Device d : devices)
    if (d.type() != devices[0].type()) return false;
  return true;
}

TEST(Proof, HoldsOnEveryListOfDevicesForEvenAndUnevenBatches) {
  manual_seed(2);
  const Mlp net(6, 16, 4);
  for (const Devices& devices : device_lists()) {
    if (!of_one_kind(devices)) continue;
    const int steps = devices[0].is_cpu() ? 10 : 3;
    for (const int64_t rows : {32, 13, 3, 1}) prove(net, devices, rows, steps, true);
  }
}

TEST(Proof, HoldsForTenStepsOnGpus) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  manual_seed(3);
  const Mlp net(6, 8, 4);
  Devices all;
  for (int8_t i = 0; i < cuda::device_count(); ++i) all.emplace_back(kCUDA, i);
  if (all.size() == 1) all.push_back(all[0]);
  prove(net, all, 13, 10, true);
}

TEST(Proof, HoldsForEveryLayer) {
  for (const Setting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    manual_seed(4);
    const Around net(setting.layer, setting.width);
    for (const bool classes : {true, false}) {
      prove(net, Devices(3, kCPU), 11, 10, classes);
      if (cuda::is_available()) prove(net, Devices(2, Device(kCUDA, 0)), 5, 2, classes);
    }
  }
}

TEST(Proof, HoldsForLargeTensors) {
  manual_seed(6);
  const Around net([](const Tensor& x) { return x.repeat({1, 300000}); }, 2400000);
  prove(net, Devices(3, kCPU), 4, 2, true);
}

// Some replicas may have too few rows to compute a gradient in pieces.
TEST(Proof, HoldsForGradientsThatAreComputedInPieces) {
  manual_seed(7);
  const Mlp net(6, 16, 4);
  for (const int64_t terms : {1, 5}) {
    const SmallPieces small(terms);
    for (const Devices& devices : device_lists()) {
      if (!of_one_kind(devices)) continue;
      for (const int64_t rows : {32, 13, 1}) prove(net, devices, rows, 2, rows != 13);
    }
  }
}

// A large weight is sent from where it is, the others together.
TEST(Proof, HoldsForWeightsOfManySizes) {
  manual_seed(8);
  const nn::Sequential net(nn::Linear(6, 70), nn::ReLU(), nn::Linear(70, 70), nn::ReLU(),
                           nn::Linear(70, 4));
  const size_t before = std::exchange(nn::parallel::most_message_bytes, 16384);
  for (const Devices& devices : device_lists())
    if (of_one_kind(devices) && devices.size() == 3) prove(net, devices, 4, 1, true);
  nn::parallel::most_message_bytes = before;
}

TEST(Proof, TheChainIsWhatItSays) {
  const Tensor a = full({1}, 1e8f), b = full({1}, 1.f), c = full({1}, -1e8f);
  // a + (b + c), and not (a + b) + c.
  EXPECT_EQ(nn::parallel::sum_in_chain({a, b, c}).item<float>(), 1e8f + (1.f + -1e8f));
  EXPECT_EQ(nn::parallel::sum_in_chain({a, c, b}).item<float>(), 1e8f + (-1e8f + 1.f));
  EXPECT_EQ(nn::parallel::sum_in_chain({b, a, c}).item<float>(), 1.f);
  EXPECT_EQ(nn::parallel::sum_in_chain({Tensor(), b, Tensor()}).item<float>(), 1.f);
  EXPECT_FALSE(nn::parallel::sum_in_chain({Tensor(), Tensor()}).defined());
  const Tensor sum = nn::parallel::sum_in_chain({b});
  EXPECT_FALSE(sum.is_alias_of(b));
}

}  // namespace
}  // namespace gradus
