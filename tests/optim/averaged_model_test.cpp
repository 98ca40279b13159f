// Averages of a model's weights.
#include "tests/support.h"

namespace gradus {
namespace {

using optim::AveragedModel, optim::get_ema_avg_fn;

void set(const nn::Linear& fc, double value) {
  const NoGradGuard guard;
  for (Tensor p : fc->parameters()) p.fill_(value);
}

TEST(AveragedModel, IsTheMeanOfAllValues) {
  nn::Linear fc(2, 1);
  AveragedModel mean(fc);
  EXPECT_EQ(mean.n_averaged(), 0);
  for (const double value : {1, 2, 6}) set(fc, value), mean.update_parameters(fc);
  expect_values(mean->weight, {3, 3});
  expect_values(mean(ones({1, 2})), {9});
  expect_values(fc->weight, {6, 6});
  EXPECT_EQ(mean.n_averaged(), 3);
}

TEST(AveragedModel, FollowsByAnExponentialMean) {
  nn::Linear fc(2, 1);
  AveragedModel ema(fc, get_ema_avg_fn(0.75));
  set(fc, 1), ema.update_parameters(fc);  // the first is copied
  expect_values(ema->bias, {1}, 0);
  set(fc, 2), ema.update_parameters(fc);
  expect_values(ema->bias, {1.25});
  set(fc, 3), ema.update_parameters(fc);
  expect_values(ema->bias, {0.75 * 1.25 + 0.25 * 3});
  EXPECT_TRUE(ema->bias.is_leaf());
  expect_error<ValueError>([] { get_ema_avg_fn(1.5); },
                           "Invalid decay value 1.5 provided. Please provide a value in [0,1]");
}

// PyTorch's values: torch.optim.swa_utils.AveragedModel on the same numbers.
TEST(AveragedModel, TakesOrAveragesTheBuffers) {
  for (const bool average : {false, true}) {
    nn::BatchNorm1d norm(1);
    AveragedModel ema(norm, get_ema_avg_fn(0.5), average);
    for (const double value : {4, 8}) {
      norm->running_mean.fill_(value), norm->num_batches_tracked.fill_(value);
      ema.update_parameters(norm);
    }
    expect_values(ema->running_mean, {average ? 6.0 : 8.0});
    expect_values(ema->num_batches_tracked, {average ? 6.0 : 8.0});
  }
}

TEST(AveragedModel, RefusesAnotherModel) {
  nn::Linear fc(2, 1), wider(3, 1);
  AveragedModel ema(fc);
  expect_error<ValueError>([&] { ema.update_parameters(wider); },
                           "a tensor of the model has shape [1, 3], expected [1, 2], as it had");
  nn::Linear without(nn::LinearOptions(2, 1).bias(false));
  expect_error<ValueError>([&] { ema.update_parameters(without); },
                           "the model has 1 parameters or buffers, expected 2, as it had at first");
  EXPECT_EQ(ema.n_averaged(), 0);
}

TEST(AveragedModel, StaysOnItsDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  nn::Linear fc(2, 1);
  AveragedModel ema(fc, get_ema_avg_fn(0.5));
  fc->to(kCUDA);
  for (const double value : {1, 2}) set(fc, value), ema.update_parameters(fc);
  EXPECT_TRUE(ema->weight.device() == Device(kCPU));
  expect_values(ema->weight, {1.5, 1.5});
}

TEST(AveragedModel, GoesOnFromItsStateDict) {
  nn::Linear fc(2, 1);
  AveragedModel first(fc), second(fc);
  for (const double value : {1, 2}) set(fc, value), first.update_parameters(fc);
  const auto state = first.state_dict();
  EXPECT_EQ(state.keys(), (std::vector<std::string>{"n_averaged", "module.weight", "module.bias"}));
  second.load_state_dict(state);
  EXPECT_EQ(second.n_averaged(), 2);
  set(fc, 6), second.update_parameters(fc);
  expect_values(second->weight, {3, 3});
  expect_values(first->weight, {1.5, 1.5});  // its memory is its own
}

TEST(AveragedModel, RefusesAStateThatDoesNotFit) {
  nn::Linear fc(2, 1);
  AveragedModel mean(fc);
  auto state = mean.state_dict();
  state["n_averaged"] = full({}, -1, kLong);
  state["module.bias"] = full({1}, 9, kFloat);
  const auto before = to_vector(mean->bias);
  expect_error<ValueError>([&] { mean.load_state_dict(state); },
                           "n_averaged is -1, expected 0 or more");
  expect_error<ValueError>([&] { mean.load_state_dict({}); }, "\n  n_averaged is missing");
  expect_error<ValueError>(
      [&] { mean.load_state_dict(AveragedModel(nn::Linear(3, 1)).state_dict()); },
      "module.weight is float32 of shape [1, 3], expected float32 of shape [1, 2]");
  expect_values(mean->bias, before, 0);
  EXPECT_EQ(mean.n_averaged(), 0);
}

// As in PyTorch: the statistics are the means over all batches, whatever they and momentum were.
TEST(UpdateBn, GivesAnAverageStatisticsOfItsOwn) {
  nn::Sequential net(nn::Linear(2, 3), nn::BatchNorm1d(nn::BatchNorm1dOptions(3).momentum(0.5)),
                     nn::Dropout(0.5));
  net(randn({8, 2}));  // some statistics, which must not count
  AveragedModel average(net);
  average.update_parameters(net);
  average->eval();
  average->children()[0]->train();  // a mode of its own, which stays
  const Tensor x = randn({10, 2});
  data::DataLoader loader(data::TensorPairDataset(x, arange(10)), data::DataLoaderOptions(5));
  optim::update_bn(loader, average);

  const NoGradGuard guard;
  const Tensor hidden = net->children()[0]->as<nn::Linear>()->forward(x).view({2, 5, 3});
  const auto buffers = average->named_buffers();
  EXPECT_TRUE(allclose(buffers["1.running_mean"], hidden.mean({0, 1}), 1e-5, 1e-6));
  EXPECT_TRUE(allclose(buffers["1.running_var"], hidden.var(1).mean(0), 1e-5, 1e-6));
  EXPECT_EQ(buffers["1.num_batches_tracked"].item<int64_t>(), 2);
  EXPECT_EQ(average->children()[1]->as<nn::BatchNorm1d>()->options.momentum(), 0.5);
  EXPECT_FALSE(average->is_training() || average->children()[1]->is_training());
  EXPECT_TRUE(average->children()[0]->is_training());
  // Batches may be tensors, too; a model without statistics is not called.
  const Tensors batches = {x, x * 2};
  optim::update_bn(batches, net);
  EXPECT_EQ(net->named_buffers()["1.num_batches_tracked"].item<int64_t>(), 2);
  EXPECT_TRUE(net->is_training());
  const Tensors wrong = {ones({7})};
  nn::Linear plain(2, 2);
  optim::update_bn(wrong, plain);
  // An error leaves options and modes as they were.
  EXPECT_THROW(optim::update_bn(wrong, average), Error);
  EXPECT_EQ(average->children()[1]->as<nn::BatchNorm1d>()->options.momentum(), 0.5);
  EXPECT_FALSE(average->is_training());
}

}  // namespace
}  // namespace gradus
